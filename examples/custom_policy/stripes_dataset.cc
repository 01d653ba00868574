#include "stripes_dataset.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace {

using namespace tributary;

constexpr std::int64_t kSide = 16, kPeriod = 5;
constexpr int kDirections = 4;  // horizontal, vertical, and both diagonals

StatusOr<Dataset> Draw(std::size_t count, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<std::uint8_t> pixels;
  std::vector<std::int32_t> labels;
  for (std::size_t i = 0; i < count; ++i) {
    const auto label = static_cast<std::int32_t>(i % kDirections);
    const auto phase = static_cast<std::int64_t>(rng.Below(kPeriod));
    for (std::int64_t y = 0; y < kSide; ++y) {
      for (std::int64_t x = 0; x < kSide; ++x) {
        const std::int64_t across[kDirections] = {y, x, x + y, x - y + kSide};
        const int value = (across[label] + phase) % kPeriod < 2 ? 160 : 96;
        pixels.push_back(static_cast<std::uint8_t>(value + static_cast<int>(rng.Below(128)) - 64));
      }
    }
    labels.push_back(label);
  }
  return Dataset::Make({.name = "stripes",
                        .shape = {1, kSide, kSide},
                        .classes = kDirections,
                        .normalisation = {{0.5F}, {0.2F}},
                        .class_names = {"horizontal", "vertical", "rising", "falling"}},
                       std::move(pixels), std::move(labels));
}

StatusOr<TrainTest> DrawStripes(const std::filesystem::path& /*data_dir*/) {
  TRIBUTARY_ASSIGN_OR_RETURN(Dataset train, Draw(1000, 1));
  TRIBUTARY_ASSIGN_OR_RETURN(Dataset test, Draw(200, 2));
  return TrainTest{std::move(train), std::move(test)};
}

}  // namespace

tributary::DatasetKind StripesDataset() {
  return {.name = "stripes", .description = "noisy stripes in four directions, 1x16x16", .make = DrawStripes};
}
