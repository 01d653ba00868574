#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "tributary/base/distributions.h"
#include "tributary/model/zoo.h"
#include "tributary/policy/aggregation/aggregation.h"
#include "tributary/policy/aggregation/testing_store.h"
#include "tributary/policy/dropout/round_choice.h"

namespace tributary::inline policy {

// Updates of a network of several blocks, and what a rule makes of them.
class RuleTest : public testing::Test {
 protected:
  struct TestUpdate {
    std::vector<float> parameters, statistics;
    double weight = 1;
    std::vector<UpdatePiece> pieces() const {
      return {{UpdatePart::kParameters, 0, parameters, weight},
              {UpdatePart::kStatistics, 0, statistics, weight}};
    }
  };

  RuleTest()
      : model_(BuildZooGraph({"resnet8", Shape{3, 8, 8}, 4}).value()), own_(model_.parameters.size, 0.3F) {}

  std::unique_ptr<Aggregator> Make(const std::string& name, std::span<const double> numbers,
                                   UpdateStore& store) const {
    const auto rule = std::ranges::find(AggregationRules(), name, &AggregationRule::name);
    const OwnUpdate own = [this]() -> StatusOr<std::vector<float>> { return own_; };
    auto aggregator = (*rule)->make({model_, store, {}, 1, numbers, own}).value();
    aggregator->Begin(1e6);
    return aggregator;
  }

  // Normal values around a common direction, weights that differ.
  TestUpdate Draw(std::uint64_t seed, std::uint64_t device) const {
    TestUpdate update{FilledBy(seed, device, model_.parameters.size),
                      FilledBy(seed, device + 1000, model_.statistics.size)};
    update.weight = 1 + static_cast<double>(device);
    return update;
  }
  std::vector<TestUpdate> DrawAll(std::uint64_t seed, std::size_t count) const {
    std::vector<TestUpdate> updates;
    for (std::size_t i = 0; i < count; ++i) updates.push_back(Draw(seed, i));
    return updates;
  }
  TestUpdate Constant(float value) const {
    return {std::vector<float>(model_.parameters.size, value),
            std::vector<float>(model_.statistics.size, value)};
  }

  std::vector<float> Report(const Aggregator& aggregate, UpdatePart part = UpdatePart::kParameters,
                            std::size_t block = 16384) const {
    const Layout& layout = part == UpdatePart::kParameters ? model_.parameters : model_.statistics;
    std::vector<float> all(layout.size);
    for (std::size_t begin = 0; begin < all.size(); begin += block) {
      const auto some = std::span(all).subspan(begin, std::min(block, all.size() - begin));
      EXPECT_TRUE(aggregate.Report(part, begin, some).ok());
    }
    return all;
  }
  std::vector<float> ResultOf(const std::string& name, const std::vector<double>& numbers,
                              std::span<const TestUpdate> updates,
                              UpdatePart part = UpdatePart::kParameters) const {
    MemoryStore store;
    const auto aggregate = Make(name, numbers, store);
    for (std::size_t i = 0; i < updates.size(); ++i)
      EXPECT_TRUE(aggregate->Take(WorkId{i}, updates[i].pieces()).ok());
    return Report(*aggregate, part);
  }

  static double MedianOfColumn(std::vector<double> column) {
    std::ranges::sort(column);
    return (column[(column.size() - 1) / 2] + column[column.size() / 2]) / 2;
  }
  // Element by element.
  static std::vector<double> MedianOf(std::span<const TestUpdate> updates,
                                      std::vector<float> TestUpdate::*part) {
    std::vector<double> median((updates.front().*part).size());
    for (std::size_t k = 0; k < median.size(); ++k) {
      std::vector<double> column;
      for (const TestUpdate& update : updates) column.push_back(static_cast<double>((update.*part)[k]));
      median[k] = MedianOfColumn(column);
    }
    return median;
  }
  static std::vector<double> MeanOf(std::span<const TestUpdate> updates) {
    std::vector<double> mean(updates.front().parameters.size());
    for (const TestUpdate& update : updates) {
      for (std::size_t k = 0; k < mean.size(); ++k)
        mean[k] += static_cast<double>(update.parameters[k]) / static_cast<double>(updates.size());
    }
    return mean;
  }
  static double Distance(std::span<const float> a, std::span<const double> b) {
    double sum = 0;
    for (std::size_t k = 0; k < a.size(); ++k)
      sum += (static_cast<double>(a[k]) - b[k]) * (static_cast<double>(a[k]) - b[k]);
    return std::sqrt(sum);
  }
  static void ExpectNear(std::span<const float> found, std::span<const double> expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t k = 0; k < found.size(); ++k) {
      ASSERT_NEAR(static_cast<double>(found[k]), expected[k], 1e-6 * (1 + std::abs(expected[k]))) << k;
    }
  }

  const Model model_;
  std::vector<float> own_;  // what the coordinator learns itself; the common direction

 private:
  static std::vector<float> FilledBy(std::uint64_t seed, std::uint64_t device, std::size_t size) {
    Rng rng = Rng::ForStream(seed, DeviceId{device}, "update");
    std::vector<float> values(size);
    for (float& value : values) value = static_cast<float>(0.3 + Normal(rng));
    return values;
  }
};

}  // namespace tributary::inline policy
