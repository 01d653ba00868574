#include "tributary/explore/candidates.h"

#include <gtest/gtest.h>

namespace tributary::inline explore {
namespace {

using Judged = CandidateRecord::Judged;
using Kept = Candidates::Kept;

// What it costs is how many atoms of its one group it keeps.
Candidates ByWidth() {
  return Candidates([](const Kept& kept) { return static_cast<double>(kept[0]); });
}

CandidateRecord Evaluated(std::int64_t width, double convergence, std::uint64_t generation,
                          std::optional<Judged> confirmed = std::nullopt) {
  return {{width}, convergence, Judged{convergence, generation}, confirmed};
}

TEST(Candidates, ThoseWhoWouldBeOnTheFrontAreWorthConfirming) {
  Candidates candidates = ByWidth();
  candidates.Add({{4}, 0.1, std::nullopt, std::nullopt});  // screened only
  candidates.Add(Evaluated(8, 3, 0));                      // worse than no training
  candidates.Add(Evaluated(16, 2, 0));
  candidates.Add(Evaluated(24, 2.1, 0));  // dominated
  candidates.Add(Evaluated(32, 1, 0));
  EXPECT_EQ(candidates.WorthConfirming(0, 2.5), (std::vector<Kept>{{16}, {32}}));
}

// One that turns out worse than it had looked gives way to another, in the next generation. In its own the answer stays
// what it was: whoever was interrupted goes on with the same.
TEST(Candidates, WhoIsConfirmedDoesNotDependOnWhoWasDoneFirst) {
  Candidates candidates = ByWidth();
  candidates.Add(Evaluated(16, 2, 0));
  candidates.Add(Evaluated(24, 2.1, 0));
  candidates.Add(Evaluated(32, 1, 0));
  const std::vector<Kept> before = candidates.WorthConfirming(0, 9);
  candidates.At({16}).confirmed = {2.6, 0};
  EXPECT_EQ(candidates.WorthConfirming(0, 9), before);
  candidates.At({32}).confirmed = {1, 0};
  // On average they rose by 0.3, and 24 is taken to rise as well: to 2.4, which is below 2.6.
  EXPECT_EQ(candidates.WorthConfirming(1, 9), (std::vector<Kept>{{24}}));
  EXPECT_EQ(candidates.WorthConfirming(1, 2.35), (std::vector<Kept>{}));
}

TEST(Candidates, ConvergenceIsWhatWasConfirmedOrForetold) {
  Candidates candidates = ByWidth();
  candidates.Add(Evaluated(8, 2, 0, Judged{2.5, 0}));
  candidates.Add(Evaluated(16, 1.5, 0, Judged{1.6, 1}));
  candidates.Add(Evaluated(32, 1, 1));
  EXPECT_DOUBLE_EQ(candidates.Convergence(*candidates.Find({8}), 0), 2.5);
  EXPECT_DOUBLE_EQ(candidates.Convergence(*candidates.Find({16}), 0), 2);
  EXPECT_DOUBLE_EQ(candidates.Convergence(*candidates.Find({32}), 1), 1.3);
}

// What the same generation has brought does not count: it may have been interrupted.
TEST(Candidates, LearnWhomToEvaluateFromEarlierGenerationsOnly) {
  Candidates candidates = ByWidth();
  std::vector<Kept> asked;
  for (std::int64_t width = 1; width <= 20; ++width) {
    candidates.Add(Evaluated(width, 2 - 0.05 * static_cast<double>(width), 1));
    asked.push_back({width});
  }
  EXPECT_EQ(candidates.WorthEvaluating(asked, 1), asked);
  EXPECT_LT(candidates.WorthEvaluating(asked, 2).size(), asked.size());
  EXPECT_FALSE(candidates.EvaluatedBefore({3}, 1));
  EXPECT_TRUE(candidates.EvaluatedBefore({3}, 2));
  EXPECT_FALSE(candidates.EvaluatedBefore({21}, 2));
}

}  // namespace
}  // namespace tributary::inline explore
