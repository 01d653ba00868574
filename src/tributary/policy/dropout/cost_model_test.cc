#include "tributary/policy/dropout/cost_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tributary/base/distributions.h"

namespace tributary::inline policy {
namespace {

// Sub-networks of something like a ResNet-20 at batch 32: operations fall faster than bytes when filters are dropped.
std::vector<CostMeasurement> Measured(Rng& rng, std::size_t count, const CostModel& truth, double noise) {
  std::vector<CostMeasurement> measurements;
  for (std::size_t i = 0; i < count; ++i) {
    const double kept = Uniform(rng, 0.1, 1);
    const CostFeatures features = {4e9 * kept * kept * Uniform(rng, 0.8, 1.2),
                                   6e7 * kept * Uniform(rng, 0.8, 1.2)};
    measurements.push_back({features, truth.Seconds(features) * (1 + noise * Uniform(rng, -1, 1))});
  }
  return measurements;
}

double SquaredErrors(const std::vector<CostMeasurement>& measurements, const CostModel& model) {
  double sum = 0;
  for (const auto& [features, seconds] : measurements)
    sum += std::pow(model.Seconds(features) / seconds - 1, 2);
  return sum;
}

// One term after the other is set to what is best for it, never below 0, until nothing moves.
CostModel Descended(const std::vector<CostMeasurement>& measurements) {
  CostModel model;
  for (int sweep = 0; sweep < 20'000; ++sweep) {
    for (double CostModel::*const term : {&CostModel::fixed, &CostModel::per_mac, &CostModel::per_byte}) {
      double product = 0, square = 0;
      for (const auto& [features, seconds] : measurements) {
        CostModel one;
        one.*term = 1;
        const double slope = one.Seconds(features) / seconds;
        product += slope * (1 - model.Seconds(features) / seconds);
        square += slope * slope;
      }
      model.*term = std::max(0.0, model.*term + product / square);
    }
  }
  return model;
}

TEST(CostModel, FindsWhatMadeTheTimes) {
  Rng rng(1);
  for (const CostModel& truth :
       {CostModel{0.004, 2e-11, 3e-10}, CostModel{0, 2e-11, 3e-10}, CostModel{0.01, 0, 1e-9},
        CostModel{0.001, 5e-11, 0}, CostModel{0.5, 0, 0}}) {
    const auto model = FitCostModel(Measured(rng, 40, truth, 0));
    ASSERT_TRUE(model.ok()) << model.status();
    EXPECT_NEAR(model->fixed, truth.fixed, 1e-8);
    EXPECT_NEAR(model->per_mac, truth.per_mac, 1e-17);
    EXPECT_NEAR(model->per_byte, truth.per_byte, 1e-15);
  }
}

TEST(CostModel, PredictsStepsItHasNotSeen) {
  Rng rng(2);
  const CostModel truth = {0.004, 2e-11, 3e-10};
  const auto model = FitCostModel(Measured(rng, 60, truth, 0.10));
  ASSERT_TRUE(model.ok());
  for (const auto& [features, seconds] : Measured(rng, 200, truth, 0)) {
    EXPECT_NEAR(model->Seconds(features) / seconds, 1, 0.06);
  }
}

TEST(CostModel, IsTheBestOfThoseWithoutANegativeTerm) {
  Rng rng(3);
  int bounded = 0;
  for (int i = 0; i < 12; ++i) {
    // Times that have little to do with the features make the unbounded fit negative here and there.
    std::vector<CostMeasurement> measurements = Measured(rng, 5 + rng.Below(20), {0.004, 2e-11, 3e-10}, 0.2);
    for (CostMeasurement& one : measurements) one.seconds *= Uniform(rng, 0.3, 2);
    const auto model = FitCostModel(measurements);
    ASSERT_TRUE(model.ok());
    EXPECT_TRUE(model->fixed >= 0 && model->per_mac >= 0 && model->per_byte >= 0);
    bounded += model->fixed == 0 || model->per_mac == 0 || model->per_byte == 0;
    const double descended = SquaredErrors(measurements, Descended(measurements));
    EXPECT_NEAR(SquaredErrors(measurements, *model), descended, 1e-6 * descended);
  }
  EXPECT_GE(bounded, 3);
}

TEST(CostModel, WeighsRelativeErrors) {
  // A second step of equal features takes twice as long: the best constant for times 1 and 2 is Σ(1/t) / Σ(1/t²) = 6/5.
  const auto model = FitCostModel(std::vector<CostMeasurement>{{{1, 0}, 1}, {{1, 0}, 2}, {{0, 0}, 1e9}});
  ASSERT_TRUE(model.ok());
  EXPECT_NEAR(model->Seconds({1, 0}), 1.2, 1e-6);
}

TEST(CostModel, UsesOneOfTermsThatCannotBeToldApart) {
  std::vector<CostMeasurement> measurements;
  for (const double size : {1.0, 2.0, 3.0, 4.0, 5.0}) {
    measurements.push_back({{1e9 * size, 1e7 * size}, 0.002 + 0.01 * size});
  }
  const auto model = FitCostModel(measurements);
  ASSERT_TRUE(model.ok());
  EXPECT_TRUE(model->per_mac == 0 || model->per_byte == 0);
  for (const auto& [features, seconds] : measurements) EXPECT_NEAR(model->Seconds(features), seconds, 1e-9);
  for (CostMeasurement& one : measurements) one.features.activations = 0;
  const auto without_bytes = FitCostModel(measurements);
  ASSERT_TRUE(without_bytes.ok());
  EXPECT_EQ(without_bytes->per_byte, 0);
  EXPECT_NEAR(without_bytes->per_mac, 1e-11, 1e-18);
}

TEST(CostModel, RefusesInWords) {
  const auto refusal = [](const std::vector<CostMeasurement>& measurements) {
    return FitCostModel(measurements).status().message();
  };
  const CostMeasurement good = {{1e9, 1e7}, 0.1};
  EXPECT_EQ(refusal({}), "a cost model needs at least 3 measured steps, found 0; measure more sub-networks");
  EXPECT_EQ(refusal({good}),
            "a cost model needs at least 3 measured steps, found 1; measure more sub-networks");
  EXPECT_EQ(refusal({good, good, good}),
            "all 3 measured steps have the same features; measure sub-networks of different sizes");
  EXPECT_EQ(refusal({good, good, {{1, 1}, 0}}),
            "measured step 2 has a time of 0.000000; it must be finite and above 0");
  EXPECT_EQ(refusal({good, {{std::nan(""), 1}, 1}, good}),
            "measured step 1 has operations of nan; it must be finite and not negative");
  EXPECT_EQ(refusal({{{1, -1}, 1}, good, good}),
            "measured step 0 has bytes of -1.000000; it must be finite and not negative");
  EXPECT_EQ(refusal({good, {{1e300, 1}, 1e-300}, good}), "the measured steps are too large to be fitted");
  EXPECT_EQ(refusal({good, {{1, 1}, std::numeric_limits<double>::infinity()}, good}),
            "measured step 1 has a time of inf; it must be finite and above 0");
}

}  // namespace
}  // namespace tributary::inline policy
