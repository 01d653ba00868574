#include "tributary/policy/trust/update_norm.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tributary::inline policy {
namespace {

bool AllBelowOne(std::span<const float> values) {
  std::uint32_t others = 0;
  for (const float value : values) others += std::abs(value) < 1.0F ? 0U : 1U;  // NaN is not below
  return others == 0;
}

}  // namespace

void UpdateNorm::Add(std::span<const float> values) {
  constexpr std::size_t kBlock = 4096;  // 2^12 numbers of up to 2^50 fit in 64 bits.
  constexpr double kRound =
      0x1.8p52;  // Added to a number below 2^51, it leaves the number rounded in the low bits.
  constexpr auto kBias = std::bit_cast<std::uint64_t>(kRound);
  while (!values.empty()) {
    const std::span<const float> block = values.first(std::min(kBlock, values.size()));
    values = values.subspan(block.size());
    if (AllBelowOne(block)) {
      // The usual case. The squares times 2^50 are those below.
      std::uint64_t sum = 0;
      for (const float value : block) {
        const auto scaled = static_cast<double>(value * 0x1p25F);
        sum += std::bit_cast<std::uint64_t>(scaled * scaled + kRound);
      }
      small_.Add(sum - block.size() * kBias);
      continue;
    }
    std::uint64_t small = 0, middle = 0, large = 0;
    for (const float value : block) {
      const double square = static_cast<double>(value) * static_cast<double>(value);
      const bool is_small = square < 1, is_large = square >= 0x1p20;
      const double in_small = is_small ? square : 0;
      const double in_middle = is_small || is_large ? 0 : square;
      const double in_large = is_large ? square : 0;
      small += std::bit_cast<std::uint64_t>(in_small * 0x1p50 + kRound) - kBias;
      middle += std::bit_cast<std::uint64_t>(in_middle * 0x1p30 + kRound) - kBias;
      large += std::bit_cast<std::uint64_t>(in_large * 4 + kRound) - kBias;
    }
    small_.Add(small);
    middle_.Add(middle);
    large_.Add(large);
  }
}

double UpdateNorm::Value() const {
  return std::sqrt(small_.Value() * 0x1p-50 + middle_.Value() * 0x1p-30 + large_.Value() / 4);
}

}  // namespace tributary::inline policy
