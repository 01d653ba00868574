#include "tributary/policy/dropout/screening.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tributary/base/rng.h"
#include "tributary/policy/dropout/pareto.h"

namespace tributary {
namespace {

// Values that fall with cost, from good vectors and bad ones; the short evaluation sees them shrunken and with noise.
struct Made {
  explicit Made(std::uint64_t seed, double noise) {
    Rng rng(seed);
    for (int i = 0; i < 400; ++i) {
      const double cost = 1 + 9 * rng.Uniform();
      const double value = 1 + 2 / cost + rng.Uniform();
      const double screened = 1.5 + 0.4 * (value + noise * (2 * rng.Uniform() - 1)) + 0.02 * cost;
      all.push_back({cost, screened, value});
    }
  }
  std::vector<FullyEvaluated> all;
};

TEST(WorthEvaluating, NeverDropsWhatBelongsOnTheFront) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Made made(seed, 0.1);
    const std::span known = std::span(made.all).first(100);
    std::vector<ScreenedOnly> candidates;
    std::vector<Objectives> points;
    for (const FullyEvaluated& one : made.all) points.push_back({one.cost, one.value});
    for (const FullyEvaluated& one : std::span(made.all).subspan(100)) candidates.push_back({one.cost, one.screened});
    const std::vector<bool> worth = WorthEvaluating(known, candidates);
    for (const std::size_t on_front : NonDominated(points)) {
      if (on_front >= 100) {
        EXPECT_TRUE(worth[on_front - 100]) << "seed " << seed << ", point " << on_front;
      }
    }
    // And it is good for something.
    EXPECT_LT(std::ranges::count(worth, true), 150) << "seed " << seed;
  }
}

TEST(WorthEvaluating, KeepsEverybodyWhileThereIsLittleToLearnFrom) {
  const std::vector<FullyEvaluated> known(9, {1, 1, 1});
  const std::vector<ScreenedOnly> candidates = {{2, 100}, {3, 0.1}};
  EXPECT_EQ(WorthEvaluating(known, candidates), (std::vector<bool>{true, true}));
}

TEST(WorthEvaluating, KeepsTheMostPromisingWhereAllSeemDominated) {
  std::vector<FullyEvaluated> known;
  for (int i = 0; i < 20; ++i) known.push_back({1 + 0.1 * i, 1 + 0.01 * i, 1 + 0.01 * i});
  const std::vector<ScreenedOnly> candidates = {{3, 5}, {3, 2}, {3, 4}};
  EXPECT_EQ(WorthEvaluating(known, candidates), (std::vector<bool>{false, true, false}));
}

// What is cheaper than everything is worth it whatever its loss; equal costs do not upset the fit.
TEST(WorthEvaluating, KeepsWhatIsCheaperThanAll) {
  std::vector<FullyEvaluated> known;
  for (int i = 0; i < 20; ++i) known.push_back({2, 1 + 0.01 * i, 1 + 0.01 * i});
  const std::vector<ScreenedOnly> candidates = {{1, 50}, {2, 50}, {2, 0.5}};
  EXPECT_EQ(WorthEvaluating(known, candidates), (std::vector<bool>{true, false, true}));
}

}  // namespace
}  // namespace tributary
