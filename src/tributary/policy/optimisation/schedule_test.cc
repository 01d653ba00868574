#include "tributary/policy/optimisation/schedule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace tributary::inline policy {
namespace {

Schedule Make(const ScheduleOptions& options) {
  auto schedule = Schedule::Make(options);
  EXPECT_TRUE(schedule.ok()) << schedule.status();
  return std::move(schedule).value();
}

constexpr std::uint64_t kLastStep = std::numeric_limits<std::uint64_t>::max();

TEST(Schedule, ConstantIsConstant) {
  const Schedule schedule = Make({.learning_rate = 0.3});
  for (const std::uint64_t step : {std::uint64_t{0}, std::uint64_t{99}, kLastStep}) {
    EXPECT_EQ(schedule.LearningRate(step, 100), 0.3);
  }
  EXPECT_EQ(schedule.LearningRate(0, 0), 0.3);
}

TEST(Schedule, StepsDownAtTheMilestones) {
  const Schedule schedule = Make({.name = "step", .learning_rate = 1, .milestones = {10, 20}, .factor = 0.5});
  EXPECT_EQ(schedule.LearningRate(0, 30), 1);
  EXPECT_EQ(schedule.LearningRate(9, 30), 1);
  EXPECT_EQ(schedule.LearningRate(10, 30), 0.5);
  EXPECT_EQ(schedule.LearningRate(19, 30), 0.5);
  EXPECT_EQ(schedule.LearningRate(20, 30), 0.25);
  EXPECT_EQ(schedule.LearningRate(kLastStep, 30), 0.25);
}

TEST(Schedule, CosineFallsFromTheRateToTheFloor) {
  const Schedule schedule = Make({.name = "cosine", .learning_rate = 1, .floor = 0.25});
  EXPECT_EQ(schedule.LearningRate(0, 100), 1);
  EXPECT_NEAR(schedule.LearningRate(50, 100), 0.625, 1e-15);
  EXPECT_EQ(schedule.LearningRate(100, 100), 0.25);
  EXPECT_EQ(schedule.LearningRate(kLastStep, 100), 0.25);
  EXPECT_EQ(schedule.LearningRate(0, 0), 0.25);
  for (std::uint64_t step = 1; step <= 100; ++step) {
    EXPECT_LT(schedule.LearningRate(step, 100), schedule.LearningRate(step - 1, 100));
    const double expected =
        0.25 + 0.75 * (1 + std::cos(std::numbers::pi * static_cast<double>(step) / 100)) / 2;
    EXPECT_NEAR(schedule.LearningRate(step, 100), expected, 1e-15);
  }
}

TEST(Schedule, WarmsUpInFrontOfAny) {
  const Schedule constant = Make({.learning_rate = 0.5, .warmup_steps = 4});
  EXPECT_EQ(constant.LearningRate(0, 10), 0.125);
  EXPECT_EQ(constant.LearningRate(2, 10), 0.375);
  EXPECT_EQ(constant.LearningRate(3, 10), 0.5);
  EXPECT_EQ(constant.LearningRate(4, 10), 0.5);

  const Schedule cosine = Make({.name = "cosine", .learning_rate = 1, .warmup_steps = 10});
  EXPECT_EQ(cosine.LearningRate(0, 110), 0.1);
  EXPECT_EQ(cosine.LearningRate(9, 110), 1);
  EXPECT_EQ(cosine.LearningRate(10, 110), 1);
  EXPECT_NEAR(cosine.LearningRate(60, 110), 0.5, 1e-15);
  EXPECT_EQ(cosine.LearningRate(110, 110), 0);
  // A run shorter than its warm-up ends while climbing.
  EXPECT_EQ(cosine.LearningRate(4, 5), 0.5);

  const Schedule step =
      Make({.name = "step", .learning_rate = 1, .warmup_steps = 4, .milestones = {2, 6}, .factor = 0.5});
  EXPECT_EQ(step.LearningRate(1, 10), 0.5);
  EXPECT_EQ(step.LearningRate(3, 10), 0.5);
  EXPECT_EQ(step.LearningRate(6, 10), 0.25);
}

TEST(Schedule, RefusesWhatMakesNoSense) {
  const auto message = [](const ScheduleOptions& options) {
    const auto made = Schedule::Make(options);
    return made.ok() ? "accepted" : made.status().message();
  };
  EXPECT_EQ(message({.name = "cosin"}),
            "unknown schedule 'cosin'; did you mean 'cosine'? Known: constant, step, cosine");
  EXPECT_EQ(message({.name = "step"}),
            "the step schedule needs milestones: the steps at which the rate falls");
  EXPECT_EQ(message({.name = "step", .milestones = {5, 9, 9}}), "milestones must rise, found 9 before 9");
  EXPECT_EQ(message({.milestones = {5}}),
            "milestones are only valid with the step schedule, found 'constant'");
  EXPECT_EQ(message({.floor = 0.01}), "a floor is only valid with the cosine schedule, found 'constant'");
  EXPECT_EQ(message({.name = "cosine", .learning_rate = 0.1, .floor = 0.2}),
            "the floor must be from 0 to the learning rate, 0.1, found 0.2");
  for (const double bad : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_NE(message({.learning_rate = bad}), "accepted") << bad;
    EXPECT_NE(message({.name = "step", .milestones = {1}, .factor = bad}), "accepted") << bad;
  }
  EXPECT_NE(message({.name = "cosine", .floor = std::nan("")}), "accepted");
}

}  // namespace
}  // namespace tributary::inline policy
