#include "tributary/policy/compression/float_bits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "tributary/base/rng.h"

namespace tributary::inline policy {
namespace {

constexpr std::uint16_t kInfinity = 0x7c00;

// The meaning of a finite half without its sign, from its definition.
long double Meaning(std::uint16_t half) {
  const int exponent = half >> 10;
  const int fraction = half & 0x3ff;
  return exponent == 0 ? std::ldexp(static_cast<long double>(fraction), -24)
                       : std::ldexp(static_cast<long double>(1024 + fraction), exponent - 25);
}

// The nearest half by looking for it among all of them.
std::uint16_t Nearest(float value) {
  static const std::vector<long double> all = [] {
    std::vector<long double> meanings;
    for (std::uint16_t half = 0; half < kInfinity; ++half) meanings.push_back(Meaning(half));
    return meanings;
  }();
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const long double magnitude = std::fabs(static_cast<long double>(value));
  const auto above = static_cast<std::size_t>(std::ranges::lower_bound(all, magnitude) - all.begin());
  if (above == all.size()) return static_cast<std::uint16_t>(sign | (kInfinity - 1));
  std::size_t nearest = above;
  if (above > 0) {
    const long double up = all[above] - magnitude;
    const long double down = magnitude - all[above - 1];
    if (down < up || (down == up && (above - 1) % 2 == 0)) nearest = above - 1;
  }
  return static_cast<std::uint16_t>(sign | nearest);
}

TEST(Half, MeansWhatItsDefinitionSays) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const auto magnitude = static_cast<std::uint16_t>(half & 0x7fff);
    const float value = FromHalf(half);
    EXPECT_EQ(std::signbit(value), half >= 0x8000);
    if (magnitude < kInfinity) {
      ASSERT_EQ(static_cast<long double>(std::fabs(value)), Meaning(magnitude)) << bits;
    } else {
      ASSERT_EQ(std::isinf(value), magnitude == kInfinity);
      ASSERT_EQ(std::isnan(value), magnitude > kInfinity);
    }
  }
}

TEST(Half, ComesBackWhateverItIs) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    ASSERT_EQ(HalfOf(FromHalf(half)), half);
  }
}

TEST(Half, IsTheNearestAndEvenInTheMiddle) {
  const auto expect_nearest = [](float value) {
    ASSERT_EQ(HalfOf(value), Nearest(value)) << std::hexfloat << value;
    ASSERT_EQ(HalfOf(-value), Nearest(-value)) << std::hexfloat << value;
  };
  // Every half, every middle between two, and the floats next to them.
  for (std::uint16_t half = 0; half < kInfinity; ++half) {
    const long double above = half + 1 < kInfinity ? Meaning(static_cast<std::uint16_t>(half + 1)) : 65536;
    for (const long double place : {Meaning(half), (Meaning(half) + above) / 2}) {
      const auto value = static_cast<float>(place);
      ASSERT_EQ(static_cast<long double>(value), place);
      expect_nearest(value);
      expect_nearest(std::nextafter(value, 0.0F));
      expect_nearest(std::nextafter(value, 1e9F));
    }
  }
  Rng rng(1);
  for (int i = 0; i < 1'000'000; ++i) {
    // All floats alike, and those of a half's range alike.
    for (const auto bits : {static_cast<std::uint32_t>(rng.Below(0x7f800000)),
                            static_cast<std::uint32_t>(0x32000000 + rng.Below(0x48000000 - 0x32000000))}) {
      expect_nearest(std::bit_cast<float>(bits));
    }
  }
}

TEST(Half, KeepsToItsRange) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float large :
       {65504.0F, 65519.0F, 65520.0F, 65536.0F, 1e30F, std::numeric_limits<float>::max()}) {
    EXPECT_EQ(FromHalf(HalfOf(large)), 65504.0F) << large;
    EXPECT_EQ(FromHalf(HalfOf(-large)), -65504.0F) << large;
  }
  EXPECT_EQ(FromHalf(HalfOf(infinity)), infinity);
  EXPECT_EQ(FromHalf(HalfOf(-infinity)), -infinity);
  for (std::uint32_t fraction = 1; fraction < 1U << 23; fraction += 7) {
    ASSERT_GT(HalfOf(std::bit_cast<float>(0x7f800000 + fraction)), kInfinity);
  }
}

TEST(Half, IsTheSameInSpans) {
  Rng rng(2);
  for (const std::size_t count : {0, 1, 3, 7, 16, 33, 1000, 4099}) {
    std::vector<float> values(count);
    for (float& value : values) value = std::bit_cast<float>(static_cast<std::uint32_t>(rng.Next()));
    std::vector<std::uint16_t> halves(count);
    HalvesOf(values, halves);
    std::vector<float> restored(count);
    FromHalves(halves, restored);
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(halves[i], HalfOf(values[i]));
      EXPECT_EQ(std::bit_cast<std::uint32_t>(restored[i]), std::bit_cast<std::uint32_t>(FromHalf(halves[i])));
    }
  }
}

}  // namespace

}  // namespace tributary::inline policy
