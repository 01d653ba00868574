#include "tributary/policy/aggregation/testing_rules.h"

namespace tributary::inline policy {
namespace {

class TrustedTest : public RuleTest {
 protected:
  static double Length(std::span<const float> values) {
    return Distance(values, std::vector<double>(values.size()));
  }
  double Cosine(std::span<const float> update) const {
    double product = 0;
    for (std::size_t k = 0; k < own_.size(); ++k)
      product += static_cast<double>(own_[k]) * static_cast<double>(update[k]);
    return product / (Length(own_) * Length(update));
  }
  // Written out with whole updates.
  std::vector<double> Trusted(std::span<const TestUpdate> updates) const {
    std::vector<double> result(own_.size());
    double scores = 0;
    for (const TestUpdate& update : updates) {
      const double score = std::max(0.0, Cosine(update.parameters));
      scores += score;
      const double scale = Length(own_) / Length(update.parameters);
      for (std::size_t k = 0; k < result.size(); ++k)
        result[k] += score * scale * static_cast<double>(update.parameters[k]);
    }
    for (double& value : result) value /= scores;
    return result;
  }
  static void Scale(float factor, TestUpdate& update) {
    for (float& value : update.parameters) value *= factor;
  }
};

TEST_F(TrustedTest, IsTheMeanOfRescaledUpdatesWeightedByTheirCosines) {
  own_ = Draw(77, 3).parameters;
  for (const std::size_t devices : {1U, 2U, 5U, 10U}) {
    auto updates = DrawAll(devices, devices);
    std::vector<TestUpdate> counted;
    for (std::size_t i = 0; i < updates.size(); ++i) {
      if (i % 3 == 1) Scale(-1, updates[i]);
      ASSERT_EQ(Cosine(updates[i].parameters) > 0, i % 3 != 1);
      if (i % 3 != 1) counted.push_back(updates[i]);
    }
    ExpectNear(ResultOf("trusted", {100}, updates), Trusted(updates));
    ExpectNear(ResultOf("trusted", {100}, updates, UpdatePart::kStatistics),
               MedianOf(counted, &TestUpdate::statistics));
  }
}

TEST_F(TrustedTest, LengthsOfUpdatesDoNotMatter) {
  auto updates = DrawAll(5, 6);
  const auto expected = Trusted(updates);
  Scale(1000, updates[0]);
  Scale(1e-6F, updates[3]);
  ExpectNear(ResultOf("trusted", {100}, updates), expected);
}

TEST_F(TrustedTest, FindsNothingToApplyIfNoUpdateAgrees) {
  auto updates = DrawAll(5, 3);
  Scale(-1, updates[0]);
  Scale(-2, updates[1]);
  Scale(0, updates[2]);
  MemoryStore store;
  const auto aggregate = Make("trusted", std::vector<double>{100}, store);
  for (std::size_t i = 0; i < updates.size(); ++i)
    ASSERT_TRUE(aggregate->Take(WorkId{i}, updates[i].pieces()).ok());
  EXPECT_EQ(aggregate->Inspect().code(), StatusCode::kUnavailable);
  // One that agrees is enough.
  ASSERT_TRUE(aggregate->Take(WorkId{9}, Draw(5, 9).pieces()).ok());
  EXPECT_TRUE(aggregate->Inspect().ok());
  // The coordinator's own update says nothing.
  std::ranges::fill(own_, 0.0F);
  aggregate->Begin(1e6);
  ASSERT_TRUE(aggregate->Take(WorkId{9}, Draw(5, 9).pieces()).ok());
  EXPECT_EQ(aggregate->Inspect().code(), StatusCode::kUnavailable);
}

}  // namespace
}  // namespace tributary::inline policy
