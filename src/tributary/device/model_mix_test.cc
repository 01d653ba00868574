#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tributary/base/rng.h"
#include "tributary/device/gossip_model.h"
#include "tributary/model/zoo.h"

namespace tributary::inline device {
namespace {

Model SmallModel() {
  auto graph = BuildZooGraph({"resnet8", Shape{3, 16, 16}, 4, Stem::kAuto});
  return Model(std::move(graph).value());
}

struct Weights {
  std::vector<float> parameters, statistics;
  SharedWeights view() const { return {parameters, statistics}; }
};

Weights Random(const Model& model, std::uint64_t seed) {
  Rng rng(seed);
  Weights weights;
  for (std::size_t i = 0; i < model.parameters.size; ++i)
    weights.parameters.push_back(static_cast<float>(rng.Uniform() - 0.5));
  for (std::size_t i = 0; i < model.statistics.size; ++i)
    weights.statistics.push_back(static_cast<float>(rng.Uniform()));
  return weights;
}

TEST(ModelMix, IsTheWeightedSumAndFreeOfOrder) {
  const Model model = SmallModel();
  const Weights own = Random(model, 1), a = Random(model, 2), b = Random(model, 3), c = Random(model, 4);
  const std::vector<std::pair<double, const Weights*>> neighbours = {{0.3, &a}, {1.0 / 3, &b}, {0.1, &c}};
  std::vector<std::size_t> order = {0, 1, 2};
  std::vector<float> first;
  do {
    ModelMix mix(model);
    mix.Begin(0.3 + 1.0 / 3 + 0.1);
    for (const std::size_t i : order)
      ASSERT_TRUE(mix.Add(neighbours[i].first, neighbours[i].second->view()).ok());
    Weights mixed = own;
    ASSERT_TRUE(mix.Finish(mixed.view(), mixed.parameters, mixed.statistics).ok());
    for (std::size_t i = 0; i < mixed.parameters.size(); ++i) {
      const double expected = (1 - 0.3 - 1.0 / 3 - 0.1) * static_cast<double>(own.parameters[i]) +
                              0.3 * static_cast<double>(a.parameters[i]) +
                              1.0 / 3 * static_cast<double>(b.parameters[i]) +
                              0.1 * static_cast<double>(c.parameters[i]);
      ASSERT_NEAR(static_cast<double>(mixed.parameters[i]), expected, 1e-7);
    }
    mixed.parameters.insert(mixed.parameters.end(), mixed.statistics.begin(), mixed.statistics.end());
    if (first.empty()) first = mixed.parameters;
    EXPECT_EQ(mixed.parameters, first);
  } while (std::ranges::next_permutation(order).found);
}

TEST(ModelMix, AloneAModelStaysAsItIs) {
  const Model model = SmallModel();
  const Weights own = Random(model, 5);
  ModelMix mix(model);
  for (int again = 0; again < 2; ++again) {
    mix.Begin(0.5);
    Weights mixed = own;
    ASSERT_TRUE(mix.Finish(mixed.view(), mixed.parameters, mixed.statistics).ok());
    for (std::size_t i = 0; i < mixed.parameters.size(); ++i) {
      ASSERT_NEAR(static_cast<double>(mixed.parameters[i]), static_cast<double>(own.parameters[i]), 1e-10);
    }
  }
}

TEST(ModelMix, NeighboursMayWeighMoreThanOne) {
  const Model model = SmallModel();
  const Weights own = Random(model, 1), a = Random(model, 2), b = Random(model, 3);
  ModelMix mix(model);
  mix.Begin(1.4);
  ASSERT_TRUE(mix.Add(0.7, a.view()).ok());
  ASSERT_TRUE(mix.Add(0.7, b.view()).ok());
  Weights mixed = own;
  ASSERT_TRUE(mix.Finish(mixed.view(), mixed.parameters, mixed.statistics).ok());
  for (std::size_t i = 0; i < mixed.parameters.size(); ++i) {
    const double expected = 0.7 * static_cast<double>(a.parameters[i]) +
                            0.7 * static_cast<double>(b.parameters[i]) -
                            0.4 * static_cast<double>(own.parameters[i]);
    ASSERT_NEAR(static_cast<double>(mixed.parameters[i]), expected, 1e-7);
  }
}

TEST(ModelMix, RefusesWithoutATrace) {
  const Model model = SmallModel();
  const Weights own = Random(model, 1), good = Random(model, 2);
  Weights bad = good;
  bad.parameters.back() = std::numeric_limits<float>::quiet_NaN();
  Weights worse = good;
  worse.statistics.front() = std::numeric_limits<float>::infinity();
  Weights shorter = good;
  shorter.parameters.pop_back();
  ModelMix mix(model);
  mix.Begin(0.5);
  EXPECT_EQ(mix.Add(0.25, bad.view()).code(), StatusCode::kCorrupt);
  EXPECT_EQ(mix.Add(0.25, worse.view()).code(), StatusCode::kCorrupt);
  EXPECT_FALSE(mix.Add(0.25, shorter.view()).ok());
  EXPECT_FALSE(mix.Add(0.6, good.view()).ok());
  for (const double weight : {0.0, -0.1, std::nan("")})
    EXPECT_FALSE(mix.Add(weight, good.view()).ok()) << weight;
  EXPECT_TRUE(mix.Add(0.5, good.view()).ok());
  EXPECT_FALSE(mix.Add(0.1, good.view()).ok());  // nothing of the 0.5 is left
  Weights mixed = own;
  ASSERT_TRUE(mix.Finish(mixed.view(), mixed.parameters, mixed.statistics).ok());
  for (std::size_t i = 0; i < mixed.parameters.size(); ++i) {
    ASSERT_NEAR(static_cast<double>(mixed.parameters[i]),
                (static_cast<double>(own.parameters[i]) + static_cast<double>(good.parameters[i])) / 2, 1e-7);
  }
}

}  // namespace
}  // namespace tributary::inline device
