#include "tributary/policy/dropout/pareto.h"

#include <gtest/gtest.h>

#include "tributary/base/rng.h"

namespace tributary {
namespace {

TEST(Pareto, DominatesWhatIsNowhereSmallerAndSomewhereLarger) {
  EXPECT_TRUE(Dominates(Objectives{1, 2}, Objectives{1, 3}));
  EXPECT_TRUE(Dominates(Objectives{0, 2, 5}, Objectives{1, 3, 5}));
  EXPECT_FALSE(Dominates(Objectives{1, 2}, Objectives{1, 2}));
  EXPECT_FALSE(Dominates(Objectives{1, 4}, Objectives{2, 3}));
  EXPECT_FALSE(Dominates(Objectives{1, 3}, Objectives{1, 2}));
}

TEST(Pareto, TheFrontKeepsItsOrderAndAllOfEqualPoints) {
  const std::vector<Objectives> points = {{3, 1}, {2, 2}, {3, 3}, {1, 4}, {2, 2}, {1, 5}, {3, 1}};
  EXPECT_EQ(NonDominated(points), (std::vector<std::size_t>{0, 1, 3, 4, 6}));
  EXPECT_TRUE(NonDominated({}).empty());
  EXPECT_EQ(NonDominated(std::vector<Objectives>{{7, 7, 7}}), (std::vector<std::size_t>{0}));
}

TEST(Pareto, HypervolumeByHand) {
  const Objectives reference = {4, 4};
  EXPECT_EQ(Hypervolume2D({}, reference), 0);
  EXPECT_EQ(Hypervolume2D(std::vector<Objectives>{{1, 1}}, reference), 9);
  // Two overlapping boxes, one inside, one beyond the reference and two on its edge.
  const std::vector<Objectives> points = {{3, 1}, {1, 2}, {3, 3}, {0, 5}, {4, 0}, {0, 4}};
  EXPECT_EQ(Hypervolume2D(points, reference), 3 * 2 + 1 * 1);
}

TEST(Pareto, HypervolumeMatchesTheShareOfRandomPlacesThatAreDominated) {
  Rng rng(5);
  for (int set = 0; set < 10; ++set) {
    std::vector<Objectives> points(1 + rng.Below(12));
    for (Objectives& point : points) point = {1.2 * rng.Uniform(), 1.2 * rng.Uniform()};
    constexpr int kPlaces = 20'000;
    int dominated = 0;
    for (int i = 0; i < kPlaces; ++i) {
      const Objectives place = {rng.Uniform(), rng.Uniform()};
      for (const Objectives& point : points) {
        if (point[0] <= place[0] && point[1] <= place[1]) {
          ++dominated;
          break;
        }
      }
    }
    // Four standard deviations at the most.
    EXPECT_NEAR(Hypervolume2D(points, Objectives{1, 1}), static_cast<double>(dominated) / kPlaces, 0.0142);
  }
}

}  // namespace
}  // namespace tributary
