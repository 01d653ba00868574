#include "tributary/store/comparison.h"

#include <gtest/gtest.h>

namespace tributary::inline store {
namespace {

using namespace std::chrono_literals;

RunHistory WithAccuracies(const char* name, Duration pace, std::vector<double> accuracies) {
  RunHistory history;
  history.run.name = name;
  history.run.what.method = "federated";
  for (std::size_t i = 0; i < accuracies.size(); ++i) {
    const auto round = static_cast<std::int64_t>(i + 1);
    history.evaluations.push_back({.time = pace * round,
                                   .evaluated = {.round = {i + 1}, .accuracy = accuracies[i]},
                                   .down = {100 * round},
                                   .up = {50 * round}});
    history.run.time = pace * round;
  }
  return history;
}

TEST(CommonTarget, IsWhatAllHaveReachedInWholePercents) {
  const std::vector<RunHistory> runs = {WithAccuracies("a", 1s, {0.2, 0.855, 0.8}),
                                        WithAccuracies("b", 1s, {0.9})};
  EXPECT_DOUBLE_EQ(CommonTarget(runs).value(), 0.85);
  EXPECT_DOUBLE_EQ(CommonTarget(std::vector{WithAccuracies("a", 1s, {0.29})}).value(), 0.29);
  EXPECT_DOUBLE_EQ(CommonTarget(std::vector{WithAccuracies("a", 1s, {0.004})}).value(), 0.004);
  EXPECT_FALSE(CommonTarget(std::vector{runs[0], WithAccuracies("c", 1s, {})}));
  EXPECT_FALSE(CommonTarget({}));
}

TEST(Compare, CountsUpToTheFirstTimeTheTargetIsReached) {
  const std::vector<RunHistory> runs = {WithAccuracies("slow", 10s, {0.1, 0.5, 0.8, 0.79}),
                                        WithAccuracies("fast", 3s, {0.6, 0.81}),
                                        WithAccuracies("never", 1s, {0.7})};
  const Comparison comparison = Compare(runs, 0.8);
  ASSERT_EQ(comparison.runs.size(), 3U);
  const ComparedRun &slow = comparison.runs[0], &fast = comparison.runs[1], &never = comparison.runs[2];
  EXPECT_EQ(slow.reached->time, 30s);
  EXPECT_EQ(slow.reached->round, RoundId{3});
  EXPECT_EQ(slow.reached->bytes, Bytes{450});
  EXPECT_DOUBLE_EQ(slow.sooner.value(), 1);
  EXPECT_EQ(fast.reached->time, 6s);
  EXPECT_DOUBLE_EQ(fast.sooner.value(), 5);
  EXPECT_DOUBLE_EQ(fast.fewer_rounds.value(), 1.5);
  EXPECT_DOUBLE_EQ(fast.fewer_bytes.value(), 1.5);
  EXPECT_FALSE(never.reached);
  EXPECT_FALSE(never.sooner);
}

TEST(Compare, EvaluationsOnDevicesCountWhereThereAreNoOthers) {
  RunHistory both = WithAccuracies("both", 1s, {0.5});
  both.evaluations.push_back(
      {.time = 1s, .evaluated = {.round = {1}, .where = EvaluatedWhere::kDevices, .accuracy = 0.9}});
  EXPECT_FALSE(Compare(std::vector{both}, 0.8).runs[0].reached);
  both.evaluations.erase(both.evaluations.begin());
  EXPECT_TRUE(Compare(std::vector{both}, 0.8).runs[0].reached);
}

TEST(DrawComparison, DrawsALineForEachRun) {
  const std::vector<RunHistory> runs = {WithAccuracies("slow<", 100s, {0.1, 0.5}),
                                        WithAccuracies("fast", 3s, {0.6})};
  const std::string svg = DrawComparison(runs, 0.5);
  EXPECT_NE(svg.find("slow&lt; (federated)"), std::string::npos);
  EXPECT_NE(svg.find("fast (federated)"), std::string::npos);
  EXPECT_NE(svg.find("virtual minutes"), std::string::npos);
  EXPECT_NE(svg.find("50 %"), std::string::npos);
}

}  // namespace
}  // namespace tributary::inline store
