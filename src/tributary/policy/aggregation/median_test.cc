#include "tributary/policy/aggregation/testing_rules.h"

namespace tributary::inline policy {
namespace {

using MedianTest = RuleTest;

TEST_F(MedianTest, IsTheMedianOfEveryElementWhateverUpdatesWeigh) {
  for (const std::size_t devices : {1, 2, 3, 6, 9}) {
    const auto updates = DrawAll(devices, devices);
    ExpectNear(ResultOf("median", {}, updates), MedianOf(updates, &TestUpdate::parameters));
    ExpectNear(ResultOf("median", {}, updates, UpdatePart::kStatistics),
               MedianOf(updates, &TestUpdate::statistics));
  }
}

TEST_F(MedianTest, AnElementThatFewSendDoesNotChange) {
  MemoryStore store;
  const auto aggregate = Make("median", {}, store);
  const std::vector<float> values(100, 5.0F);
  // Two of three send the first hundred elements, one the next.
  for (const std::uint64_t id : {1, 2, 3}) {
    const UpdatePiece piece{UpdatePart::kParameters, id == 3 ? 100U : 0U, values, 1};
    ASSERT_TRUE(aggregate->Take(WorkId{id}, {&piece, 1}).ok());
  }
  std::vector<float> found(200);
  ASSERT_TRUE(aggregate->Report(UpdatePart::kParameters, 0, found).ok());
  for (std::size_t k = 0; k < 200; ++k) ASSERT_EQ(found[k], k < 100 ? 5.0F : 0.0F);
}

}  // namespace
}  // namespace tributary::inline policy
