#include "tributary/policy/dropout/pareto.h"

#include <gtest/gtest.h>

#include <limits>

#include "tributary/base/rng.h"

namespace tributary::inline policy {
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

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// By definition: take away what nothing left dominates, again and again.
std::vector<std::vector<std::size_t>> Peeled(const std::vector<Objectives>& points) {
  const auto dominates = [&](std::size_t a, std::size_t b) {
    for (std::size_t k = 0; k < points[a].size(); ++k) {
      if (points[a][k] > points[b][k]) return false;
    }
    return points[a] != points[b];
  };
  std::vector<bool> taken(points.size(), false);
  std::vector<std::vector<std::size_t>> fronts;
  for (std::size_t left = points.size(); left > 0;) {
    std::vector<std::size_t> front;
    for (std::size_t i = 0; i < points.size(); ++i) {
      bool dominated = taken[i];
      for (std::size_t j = 0; j < points.size() && !dominated; ++j) dominated = !taken[j] && dominates(j, i);
      if (!dominated) front.push_back(i);
    }
    for (const std::size_t i : front) taken[i] = true;
    left -= front.size();
    fronts.push_back(front);
  }
  return fronts;
}

TEST(NonDominatedSort, PeelsFrontAfterFront) {
  Rng rng(1);
  for (int set = 0; set < 300; ++set) {
    const std::uint64_t objectives = 2 + rng.Below(3);
    // Few levels make ties and duplicates, many make neither.
    const std::uint64_t levels = 1 + (set % 3 == 0 ? rng.Below(5) : rng.Below(1000));
    std::vector<Objectives> points(rng.Below(60));
    for (Objectives& point : points) {
      for (std::uint64_t k = 0; k < objectives; ++k)
        point.push_back(static_cast<double>(rng.Below(levels)) - 2);
    }
    const auto fronts = NonDominatedSort(points);
    ASSERT_EQ(fronts, Peeled(points)) << set;
    ASSERT_EQ(fronts.empty() ? std::vector<std::size_t>{} : fronts[0], NonDominated(points)) << set;
  }
}

TEST(NonDominatedSort, CrowdingByHand) {
  // Extents 8 and 16, neighbours at the second: (4 − 0) / 8 + (16 − 4) / 16; at the third: (8 − 1) / 8 + (8 − 0) / 16.
  const std::vector<Objectives> points = {{9, 9}, {0, 16}, {4, 4}, {1, 8}, {8, 0}};
  const std::vector<std::size_t> front = {1, 2, 3, 4};
  EXPECT_EQ(CrowdingDistances(points, front),
            (std::vector<double>{kInfinite, 7.0 / 8 + 8.0 / 16, 4.0 / 8 + 12.0 / 16, kInfinite}));
}

TEST(NonDominatedSort, CrowdingOfFewEqualAndHugePoints) {
  const auto crowding = [](const std::vector<Objectives>& points) {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < points.size(); ++i) all.push_back(i);
    return CrowdingDistances(points, all);
  };
  EXPECT_TRUE(crowding({}).empty());
  EXPECT_EQ(crowding({{1, 2}}), (std::vector<double>{kInfinite}));
  EXPECT_EQ(crowding({{1, 2}, {2, 1}}), (std::vector<double>{kInfinite, kInfinite}));
  // Those between equal ones have no room; the first and the last count as the ends.
  EXPECT_EQ(crowding({{1, 1}, {1, 1}, {1, 1}, {1, 1}}), (std::vector<double>{kInfinite, 0, 0, kInfinite}));
  EXPECT_EQ(crowding({{-1.7e308, 1.7e308}, {0, 0}, {1.7e308, -1.7e308}}),
            (std::vector<double>{kInfinite, 2, kInfinite}));
}

}  // namespace

}  // namespace tributary::inline policy
