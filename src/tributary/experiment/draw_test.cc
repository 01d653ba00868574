#include "tributary/experiment/draw.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tributary::inline experiment {
namespace {

constexpr Range kPositiveRates{.low = 0, .high = 1e18, .above_low = true};

Distribution Parse(std::string text, Unit unit = Unit::kSamplesPerSecond) {
  auto parsed = ParseDistribution(Value{std::move(text), {}}, unit, kPositiveRates);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  return parsed.ok() ? std::move(parsed).value() : Distribution::Constant(0);
}

struct Moments {
  double mean = 0, deviation = 0, least = 1e300, most = -1e300;
};

Moments MomentsOf(const Distribution& distribution, std::size_t devices) {
  Moments moments;
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < devices; ++i) {
    const auto number = Draw(distribution, kPositiveRates, {5, DeviceId{i}, "stream-rate", i});
    EXPECT_TRUE(number.ok());
    sum += *number;
    squares += *number * *number;
    moments.least = std::min(moments.least, *number);
    moments.most = std::max(moments.most, *number);
  }
  moments.mean = sum / static_cast<double>(devices);
  moments.deviation = std::sqrt(squares / static_cast<double>(devices) - moments.mean * moments.mean);
  return moments;
}

// Tolerances are four standard errors of 20,000 draws.
TEST(Draw, UniformIsEvenBetweenItsEnds) {
  const Moments moments = MomentsOf(Parse("uniform(12,64)"), 20'000);
  EXPECT_NEAR(moments.mean, 38, 4 * 15.01 / std::sqrt(20'000));
  EXPECT_NEAR(moments.deviation, 52 / std::sqrt(12), 0.3);
  EXPECT_GE(moments.least, 12);
  EXPECT_LT(moments.least, 12.1);
  EXPECT_LE(moments.most, 64);
  EXPECT_GT(moments.most, 63.9);
}

TEST(Draw, NormalHasItsMeanAndDeviation) {
  const Moments moments = MomentsOf(Parse("normal(640,24)"), 20'000);
  EXPECT_NEAR(moments.mean, 640, 4 * 24 / std::sqrt(20'000));
  EXPECT_NEAR(moments.deviation, 24, 4 * 24 / std::sqrt(40'000));
}

// A normal cut at 0, two thirds of a deviation under its mean: mean 64 + 96·φ(2/3)/Φ(2/3) = 105.0.
TEST(Draw, NormalIsDrawnAgainUntilItIsAllowed) {
  const Moments moments = MomentsOf(Parse("normal(64,96)"), 20'000);
  EXPECT_GT(moments.least, 0);
  EXPECT_NEAR(moments.mean, 105.0, 2.1);
}

TEST(Draw, GivesUpOnANormalThatIsNeverAllowed) {
  const Distribution far{Distribution::Kind::kNormal, {-1, 1e-9}};
  const auto number = Draw(far, kPositiveRates, {1, DeviceId{7}, "uplink", 0});
  EXPECT_EQ(number.status().message(),
            "device 7 drew 1000 values of uplink from a normal distribution, none of them above 0 and at "
            "most 1e+18; "
            "make its deviation smaller");
}

TEST(Draw, ListsAreDealtInTurn) {
  const Value list{List{{std::string("1G"), {}}, {2e9, {}}, {std::int64_t{4}, {}}}, {}};
  const auto parsed = ParseDistribution(list, Unit::kMacsPerSecond, kPositiveRates);
  ASSERT_TRUE(parsed.ok());
  const auto at = [&](std::size_t i) {
    return *Draw(*parsed, kPositiveRates, {1, DeviceId{50 + i}, "compute", i});
  };
  EXPECT_EQ(at(0), 1e9);
  EXPECT_EQ(at(1), 2e9);
  EXPECT_EQ(at(2), 4);
  EXPECT_EQ(at(3), 1e9);
}

TEST(Draw, DependsOnSeedDeviceAndPurpose) {
  const Distribution uniform = Parse("uniform(1,2)");
  const auto draw = [&](std::uint64_t seed, std::uint64_t device, std::string_view purpose) {
    return *Draw(uniform, kPositiveRates, {seed, DeviceId{device}, purpose, 0});
  };
  const double number = draw(1, 2, "uplink");
  EXPECT_EQ(draw(1, 2, "uplink"), number);
  EXPECT_NE(draw(2, 2, "uplink"), number);
  EXPECT_NE(draw(1, 3, "uplink"), number);
  EXPECT_NE(draw(1, 2, "downlink"), number);
}

TEST(Draw, ReadsUnitsInArguments) {
  EXPECT_EQ(Parse("uniform(10Mbit/s,100Mbit/s)", Unit::kBitsPerSecond).numbers,
            (std::vector<double>{1e7, 1e8}));
  EXPECT_EQ(Parse("normal( 2 G , 100M )", Unit::kMacsPerSecond).numbers, (std::vector<double>{2e9, 1e8}));
}

TEST(Draw, RefusesWhatCannotBeDrawn) {
  const auto refusal = [](std::string text) {
    const auto parsed =
        ParseDistribution(Value{std::move(text), {}}, Unit::kSamplesPerSecond, kPositiveRates);
    return parsed.ok() ? std::string() : parsed.status().message();
  };
  EXPECT_EQ(refusal("uniform(64,12)"), "'uniform(64,12)' has its low end above its high end");
  EXPECT_EQ(refusal("uniform(0,12)"), "found 0.0; allowed: above 0 and at most 1e+18");
  EXPECT_EQ(refusal("normal(0,12)"), "found 0.0; allowed: above 0 and at most 1e+18");
  EXPECT_EQ(refusal("normal(1,2,3)"), "'normal(1,2,3)' is not of the form normal(mean,deviation)");
  EXPECT_EQ(refusal("normal(1,nan)"), "'nan' is not a quantity like 64/s; units are samples/s, /s");
  EXPECT_EQ(refusal("normal"), "'normal' is not of the form normal(mean,deviation)");
}

}  // namespace
}  // namespace tributary::inline experiment
