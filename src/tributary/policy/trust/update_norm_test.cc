#include "tributary/policy/trust/update_norm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tributary/base/distributions.h"
#include "tributary/base/rng.h"

namespace tributary::inline policy {
namespace {

std::vector<float> Noise(std::uint64_t seed, std::size_t count, double scale) {
  Rng rng(seed);
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(static_cast<float>(Normal(rng, 0, scale)));
  return values;
}

double NormOf(const std::vector<float>& values) {
  UpdateNorm norm;
  norm.Add(values);
  return norm.Value();
}

TEST(UpdateNorm, IsTheEuclideanNormForAllMagnitudesOfUpdates) {
  for (const double scale : {1e-4, 1e-2, 1.0, 30.0, 1e6}) {
    const std::vector<float> values = Noise(1, 20'000, scale);
    double squares = 0;
    for (const float value : values) squares += static_cast<double>(value) * static_cast<double>(value);
    EXPECT_NEAR(NormOf(values) / std::sqrt(squares), 1, 1e-4) << scale;
  }
  EXPECT_EQ(NormOf({}), 0);
  EXPECT_EQ(NormOf({3, 4}), 5);
  EXPECT_EQ(NormOf(std::vector<float>(1 << 20, 0x1p24F)), 0x1p34);
}

TEST(UpdateNorm, AnyOrderAndDivisionGivesTheSameBits) {
  const std::vector<float> values = Noise(2, 30'000, 0.9);
  const double whole = NormOf(values);
  Rng rng(5);
  for (int time = 0; time < 20; ++time) {
    std::vector<std::span<const float>> pieces;
    for (std::span<const float> rest = values; !rest.empty();) {
      const auto count = std::min<std::size_t>(rest.size(), 1 + rng.Below(9000));
      pieces.insert(pieces.begin() + static_cast<std::ptrdiff_t>(rng.Below(pieces.size() + 1)),
                    rest.first(count));
      rest = rest.subspan(count);
    }
    UpdateNorm norm;
    for (const auto piece : pieces) norm.Add(piece);
    ASSERT_EQ(norm.Value(), whole);
  }
}

TEST(UpdateNorm, ALargeValueChangesNothingForTheSmallOnesOfItsBlock) {
  std::vector<float> values = Noise(3, 4000, 0.1);
  values.insert(values.end(), {0x1p-149F, -0x1p-126F, 1 - 0x1p-24F, 0x1p-24F - 1});
  UpdateNorm apart;
  apart.Add(values);
  apart.Add(std::vector<float>{1, -2e3F});
  values.insert(values.begin() + 1000, {1, -2e3F});
  EXPECT_EQ(NormOf(values), apart.Value());
}

}  // namespace
}  // namespace tributary::inline policy
