#include "tributary/policy/attacks/attack.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace tributary::inline policy {
namespace {

std::vector<float> Attacked(AttackKind kind, double strength, std::vector<float> update,
                            std::uint64_t seed = 1) {
  ApplyAttack({kind, strength}, seed, update);
  return update;
}

TEST(Attack, FlipsSignsAndScales) {
  EXPECT_EQ(Attacked(AttackKind::kSignFlip, 1, {1, -2, 0.5}), (std::vector<float>{-1, 2, -0.5}));
  EXPECT_EQ(Attacked(AttackKind::kSignFlip, 4, {1, -2, 0.5}), (std::vector<float>{-4, 8, -2}));
  EXPECT_EQ(Attacked(AttackKind::kScale, 10, {1, -2, 0.5}), (std::vector<float>{10, -20, 5}));
}

TEST(Attack, NoiseIsBoundedByTheSizeOfTheUpdateAndAFunctionOfTheSeed) {
  const std::vector<float> update(10'000, -0.5F);
  const auto noise = Attacked(AttackKind::kNoise, 3, update);
  const auto [low, high] = std::ranges::minmax(noise);
  EXPECT_GE(low, -1.5F);
  EXPECT_LE(high, 1.5F);
  EXPECT_LT(low, -1.49F);
  EXPECT_GT(high, 1.49F);
  double sum = 0;
  for (const float value : noise) sum += static_cast<double>(value);
  EXPECT_LT(std::abs(sum / 10'000), 5 * 1.5 / std::sqrt(3.0 * 10'000));  // five standard deviations
  EXPECT_EQ(noise, Attacked(AttackKind::kNoise, 3, update));
  EXPECT_NE(noise, Attacked(AttackKind::kNoise, 3, update, 2));
  EXPECT_EQ(Attacked(AttackKind::kNoise, 3, {0, 0}), (std::vector<float>{0, 0}));
  EXPECT_TRUE(Attacked(AttackKind::kNoise, 3, {}).empty());
}

TEST(Attack, ShiftsLabelsAroundTheClasses) {
  std::vector<std::int32_t> labels = {0, 1, 8, 9};
  ShiftLabels(1, 10, labels);
  EXPECT_EQ(labels, (std::vector<std::int32_t>{1, 2, 9, 0}));
  ShiftLabels(1'000'007, 10, labels);
  EXPECT_EQ(labels, (std::vector<std::int32_t>{8, 9, 6, 7}));
}

TEST(Attack, CollusionIsTheMeanAndDeviationOfWhatWasLearntWrittenOut) {
  const std::vector<std::vector<float>> learnt = {{1, 5, 0}, {3, 5, 0}, {8, 5, 0}};
  // Of 1, 3 and 8 the mean is 4 and the variance (9 + 1 + 16) / 3.
  const auto alie = CollusionUpdate({AttackKind::kAlie, 1.5}, learnt);
  EXPECT_NEAR(alie[0], 4 - 1.5 * std::sqrt(26.0 / 3), 1e-6);
  EXPECT_FLOAT_EQ(alie[1], 5);
  EXPECT_EQ(alie[2], 0);
  EXPECT_EQ(CollusionUpdate({AttackKind::kIpm, 0.5}, learnt), (std::vector<float>{-2, -2.5, 0}));
  // A device alone knows no deviation.
  EXPECT_EQ(CollusionUpdate({AttackKind::kAlie, 1.5}, std::span(learnt).first(1)), learnt[0]);
}

}  // namespace
}  // namespace tributary::inline policy
