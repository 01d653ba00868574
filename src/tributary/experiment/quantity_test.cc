#include "tributary/experiment/quantity.h"

#include <gtest/gtest.h>

#include "tributary/base/distributions.h"
#include "tributary/base/portable_math.h"

namespace tributary::inline experiment {
namespace {

TEST(Quantity, ReadsUnits) {
  EXPECT_EQ(*ParseQuantity("2G", Unit::kMacsPerSecond), 2e9);
  EXPECT_EQ(*ParseQuantity("2.5 GMAC/s", Unit::kMacsPerSecond), 2.5e9);
  EXPECT_EQ(*ParseQuantity("300", Unit::kMacsPerSecond), 300);
  EXPECT_EQ(*ParseQuantity("64KiB", Unit::kBytes), 65536);
  EXPECT_EQ(*ParseQuantity("1.5Gbit/s", Unit::kBitsPerSecond), 1.5e9);
  EXPECT_EQ(*ParseQuantity("20ms", Unit::kSeconds), 0.02);
  EXPECT_EQ(*ParseQuantity("64samples/s", Unit::kSamplesPerSecond), 64);
  for (const auto text : {"", "G", "-2G", "2X", "inf", "nan", "1e400", "2G2", "0x10"}) {
    EXPECT_FALSE(ParseQuantity(text, Unit::kMacsPerSecond).ok()) << text;
  }
}

TEST(Quantity, IsWrittenInTheLargestUnitThatSuits) {
  EXPECT_EQ(FormatQuantity(5e7, Unit::kBitsPerSecond), "50Mbit/s");
  EXPECT_EQ(FormatQuantity(1.5e9, Unit::kMacsPerSecond), "1.5G");
  EXPECT_EQ(FormatQuantity(2e9, Unit::kBytes), "2GB");
  EXPECT_EQ(FormatQuantity(64.0 * 1024 * 1024, Unit::kBytes), "64MiB");
  EXPECT_EQ(FormatQuantity(0.02, Unit::kSeconds), "20ms");
  EXPECT_EQ(FormatQuantity(0, Unit::kSeconds), "0s");
  EXPECT_EQ(FormatQuantity(0, Unit::kSamplesPerSecond), "0");
}

TEST(Quantity, ReadsBackToTheSameBits) {
  Rng rng(3);
  for (int i = 0; i < 20'000; ++i) {
    const double amount = PortableExp(Uniform(rng, -20, 20));
    for (const Unit unit : {Unit::kBytes, Unit::kBitsPerSecond, Unit::kMacsPerSecond, Unit::kSeconds,
                            Unit::kSamplesPerSecond}) {
      const std::string text = FormatQuantity(amount, unit);
      const auto back = ParseQuantity(text, unit);
      ASSERT_TRUE(back.ok()) << text;
      ASSERT_EQ(*back, amount) << text;
    }
  }
}

TEST(Quantity, DurationsAreExactToTheNanosecond) {
  EXPECT_EQ(FormatExactly(std::chrono::minutes(10)), "10min");
  EXPECT_EQ(FormatExactly(std::chrono::milliseconds(1500)), "1500ms");
  EXPECT_EQ(FormatExactly(Duration(0)), "0s");
  Rng rng(4);
  for (int i = 0; i < 20'000; ++i) {
    // What was read once: beyond 2^53 ns not every one can be written.
    const Duration duration = *ParseDuration(std::to_string(rng.Below(1'000'000'000'000'000'000)) + "ns");
    ASSERT_EQ(*ParseDuration(FormatExactly(duration)), duration);
  }
  EXPECT_FALSE(ParseDuration("32years").ok());
  EXPECT_FALSE(ParseDuration("1e10s").ok());
  EXPECT_FALSE(ParseDuration("10").ok());
}

TEST(Quantity, NumbersKeepTheirPoint) {
  EXPECT_EQ(FormatNumber(1), "1.0");
  EXPECT_EQ(FormatNumber(0.1), "0.1");
  EXPECT_EQ(FormatNumber(1e-30), "1e-30");
}

}  // namespace
}  // namespace tributary::inline experiment
