#include "tributary/policy/aggregation/testing_rules.h"

namespace tributary::inline policy {
namespace {

class CentredClippingTest : public RuleTest {
 protected:
  // Written out with whole updates.
  static std::vector<double> Clipped(std::span<const TestUpdate> updates, double multiple) {
    std::vector<double> centre = MedianOf(updates, &TestUpdate::parameters);
    double radius = 0;
    for (int iteration = 0; iteration < 3; ++iteration) {
      std::vector<double> distances;
      for (const TestUpdate& update : updates) distances.push_back(Distance(update.parameters, centre));
      if (iteration == 0) radius = multiple * MedianOfColumn(distances);
      std::vector<double> moves(centre.size());
      for (std::size_t i = 0; i < updates.size(); ++i) {
        const double scale = distances[i] > radius ? radius / distances[i] : 1;
        for (std::size_t k = 0; k < centre.size(); ++k)
          moves[k] += scale * (static_cast<double>(updates[i].parameters[k]) - centre[k]);
      }
      for (std::size_t k = 0; k < centre.size(); ++k)
        centre[k] += moves[k] / static_cast<double>(updates.size());
    }
    return centre;
  }
};

TEST_F(CentredClippingTest, IsTheIterationWrittenOut) {
  for (const auto& [devices, radius] :
       {std::pair(1, 1.0), {2, 1.0}, {3, 0.5}, {6, 1.0}, {9, 2.0}, {9, 0.1}}) {
    auto updates = DrawAll(static_cast<std::uint64_t>(devices), static_cast<std::size_t>(devices));
    for (std::size_t i = 0; i < updates.size(); ++i) {
      for (float& value : updates[i].parameters) value *= 1 + static_cast<float>(i * 7 % 10);
    }
    ExpectNear(ResultOf("centred-clipping", {radius}, updates), Clipped(updates, radius));
    ExpectNear(ResultOf("centred-clipping", {radius}, updates, UpdatePart::kStatistics),
               MedianOf(updates, &TestUpdate::statistics));
  }
}

TEST_F(CentredClippingTest, IsTheMeanWithALargeRadiusAndTheMedianWithNone) {
  const auto updates = DrawAll(4, 7);
  ExpectNear(ResultOf("centred-clipping", {100}, updates), MeanOf(updates));
  ExpectNear(ResultOf("centred-clipping", {0}, updates), MedianOf(updates, &TestUpdate::parameters));
}

TEST_F(CentredClippingTest, EqualUpdatesAreTheResult) {
  const std::vector<TestUpdate> updates(5, Draw(1, 1));
  EXPECT_EQ(ResultOf("centred-clipping", {1}, updates), updates[0].parameters);
}

}  // namespace
}  // namespace tributary::inline policy
