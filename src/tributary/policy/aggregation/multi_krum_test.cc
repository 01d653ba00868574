#include <numeric>

#include "tributary/policy/aggregation/testing_rules.h"

namespace tributary::inline policy {
namespace {

class MultiKrumTest : public RuleTest {
 protected:
  // Written out with whole updates; which of them count.
  static std::vector<TestUpdate> Kept(std::span<const TestUpdate> updates, std::size_t hostile,
                                      std::size_t neighbours) {
    std::vector<std::pair<double, std::size_t>> scores;
    for (std::size_t i = 0; i < updates.size(); ++i) {
      std::vector<double> squares;
      for (std::size_t j = 0; j < updates.size(); ++j) {
        double square = 0;
        for (std::size_t k = 0; k < updates[i].parameters.size(); ++k) {
          const double difference =
              static_cast<double>(updates[i].parameters[k]) - static_cast<double>(updates[j].parameters[k]);
          square += difference * difference;
        }
        if (i != j) squares.push_back(square);
      }
      std::ranges::sort(squares);
      scores.emplace_back(
          std::accumulate(squares.begin(), squares.begin() + static_cast<std::ptrdiff_t>(neighbours), 0.0),
          i);
    }
    std::ranges::sort(scores);
    scores.resize(updates.size() - hostile);
    std::vector<TestUpdate> kept;
    for (const auto& [score, i] : scores) kept.push_back(updates[i]);
    return kept;
  }
};

TEST_F(MultiKrumTest, IsTheMeanOfTheUpdatesNearestToTheirNeighbours) {
  for (const auto& [devices, byzantine, hostile, neighbours] : {std::tuple(1, 0.2, 0, 0),
                                                                {2, 0.4, 0, 1},
                                                                {3, 0.4, 1, 1},
                                                                {4, 0.2, 1, 1},
                                                                {7, 0.0, 0, 5},
                                                                {7, 0.28, 2, 3},
                                                                {10, 0.3, 3, 5}}) {
    auto updates = DrawAll(static_cast<std::uint64_t>(devices), static_cast<std::size_t>(devices));
    // Some are farther away than others.
    for (std::size_t i = 0; i < updates.size(); ++i) {
      for (float& value : updates[i].parameters) value *= 1 + 0.1F * static_cast<float>(i * 7 % 10);
    }
    const auto kept = Kept(updates, static_cast<std::size_t>(hostile), static_cast<std::size_t>(neighbours));
    ExpectNear(ResultOf("multi-krum", {byzantine}, updates), MeanOf(kept));
    ExpectNear(ResultOf("multi-krum", {byzantine}, updates, UpdatePart::kStatistics),
               MedianOf(kept, &TestUpdate::statistics));
  }
}

// The corners of a square, one of which is left out.
TEST_F(MultiKrumTest, EqualScoresGoToTheFirstDevices) {
  std::vector<TestUpdate> updates(4, Constant(0));
  updates[1].parameters[0] = updates[2].parameters[0] = 3;
  updates[2].parameters[20'000] = updates[3].parameters[20'000] = 3;
  const auto found = ResultOf("multi-krum", {0.25}, updates);
  EXPECT_EQ(found[0], 2);
  EXPECT_EQ(found[20'000], 1);
}

TEST_F(MultiKrumTest, BadStatisticsWithGoodParametersMoveStatisticsLittle) {
  auto updates = DrawAll(5, 9);
  for (std::size_t i = 0; i < 2; ++i) {
    updates[i].parameters = updates[8].parameters;  // and so they count
    std::ranges::fill(updates[i].statistics, 1e6F);
  }
  for (const float value : ResultOf("multi-krum", {0.2}, updates, UpdatePart::kStatistics))
    ASSERT_LT(std::abs(value), 10);
}

}  // namespace
}  // namespace tributary::inline policy
