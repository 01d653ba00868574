// Networks of which some layers are frozen, and borders that are not the same on both sides.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "tributary/base/distributions.h"
#include "tributary/base/flat_buffer.h"
#include "tributary/engine/compute.h"
#include "tributary/engine/executor.h"
#include "tributary/model/initialise.h"
#include "tributary/model/model.h"
#include "tributary/model/zoo.h"

namespace tributary::inline engine {
namespace {

// A network whole and with layers frozen, at the same weights, and a batch.
struct Pair {
  Pair(const std::string& name, const std::vector<std::string>& freeze, Shape input = {3, 16, 16})
      : whole(std::make_shared<const Model>(BuildZooGraph({name, input, 10}).value())),
        parameters(whole->parameters.size),
        statistics(whole->statistics.size),
        gradients(whole->parameters.size) {
    SetComputeThreads(1);
    InitialiseWeights(*whole, 1, parameters.span(), statistics.span());
    Rng rng(2);
    for (const Layout::Slot& slot : whole->statistics.slots) {  // Not those that do nothing.
      for (std::size_t i = 0; i < slot.segment.count; ++i) {
        statistics.data()[slot.segment.offset + i] = static_cast<float>(Uniform(rng, 0.5, 1.5));
      }
    }
    frozen = std::make_shared<const Model>(
        Freeze(*whole, FrozenNodes(whole->graph, freeze).value(), parameters.span(), statistics.span()));
    trained = FlatBuffer(frozen->parameters.size);
    measured = FlatBuffer(frozen->statistics.size);
    learnt = FlatBuffer(frozen->parameters.size);
    CopyTrained(whole->parameters, parameters.span(), frozen->parameters, trained.span());
    CopyTrained(whole->statistics, statistics.span(), frozen->statistics, measured.span());
    inputs.resize(4 * static_cast<std::size_t>(input.elements()));
    for (float& value : inputs) value = static_cast<float>(Normal(rng));
  }
  Executor OfWhole() { return Executor(whole, {parameters.span(), statistics.span(), gradients.span()}); }
  Executor OfFrozen() { return Executor(frozen, {trained.span(), measured.span(), learnt.span()}); }
  BatchView batch() const { return {inputs, labels}; }

  std::shared_ptr<const Model> whole, frozen;
  FlatBuffer parameters, statistics, gradients, trained, measured, learnt;
  std::vector<float> inputs;
  std::vector<std::int32_t> labels = {1, 7, 3, 0};
};

TEST(FrozenLayers, LeaveTheOthersTheirGradients) {
  for (const auto& freeze : {std::vector<std::string>{"conv1"}, {"conv2"}, {"conv1", "fc1"}}) {
    Pair pair("cnn", freeze);  // No norms: frozen or not, layers compute the same.
    const auto all = pair.OfWhole().Train(pair.batch());
    std::vector<std::size_t> ready;
    PassOptions options;
    options.hooks.gradient_ready = [&](std::size_t unit) { ready.push_back(unit); };
    Executor executor = pair.OfFrozen();
    const auto some = executor.Train(pair.batch(), options);
    ASSERT_TRUE(all.ok() && some.ok()) << some.status();
    EXPECT_EQ(all->loss, some->loss);
    EXPECT_EQ(ready.size(), pair.frozen->units.size());
    FlatBuffer expected(pair.frozen->parameters.size);
    CopyTrained(pair.whole->parameters, pair.gradients.span(), pair.frozen->parameters, expected.span());
    EXPECT_TRUE(std::ranges::equal(expected.span(), pair.learnt.span()));
    EXPECT_TRUE(std::ranges::any_of(expected.span(), [](float value) { return value != 0; }));
  }
}

// A frozen norm does in training what all norms do in evaluation, and its statistics stay.
TEST(FrozenLayers, KeepTheStatisticsOfTheirNorms) {
  Pair pair("resnet8", {"conv1", "layer1"});
  const FlatBuffer& constants = *pair.frozen->constant_values;
  const std::vector<float> before(constants.span().begin(), constants.span().end());
  const std::vector<float> moving(pair.measured.span().begin(), pair.measured.span().end());
  NodeIndex cut = 0;
  while (pair.whole->graph.node(cut).name != "layer1.0.relu") ++cut;
  Executor evaluated = pair.OfWhole(), trained = pair.OfFrozen();
  const auto expected = evaluated.Predict(pair.inputs, cut);
  const auto found = trained.Forward(pair.inputs, cut);
  ASSERT_TRUE(expected.ok() && found.ok());
  EXPECT_TRUE(std::ranges::equal(*expected, *found));
  ASSERT_TRUE(trained.Train(pair.batch()).ok());
  EXPECT_EQ(std::memcmp(before.data(), constants.data(), before.size() * sizeof(float)), 0);
  EXPECT_FALSE(std::ranges::equal(moving, pair.measured.span()));
}

TEST(FrozenLayers, EvaluateAsTheWholeNetwork) {
  Pair pair("mobilenet-v2", {"features.0", "features.1", "features.9"}, {3, 32, 32});
  const auto whole = pair.OfWhole().Evaluate(pair.batch());
  const auto frozen = pair.OfFrozen().Evaluate(pair.batch());
  ASSERT_TRUE(whole.ok() && frozen.ok());
  EXPECT_EQ(whole->loss, frozen->loss);
  EXPECT_EQ(whole->correct, frozen->correct);
}

TEST(PadNode, PutsZerosAroundAnImage) {
  GraphBuilder b("pad", Shape{1, 2, 2});
  b.Add("flatten", Flatten{}, {b.Add("pad", Pad{{1, 0}, {0, 2}}, {0})});
  const auto model = std::make_shared<const Model>(std::move(b).Build().value());
  Executor executor(model, {});
  const std::vector<float> image = {1, 2, 3, 4};
  const auto padded = executor.Predict(image, 2);
  ASSERT_TRUE(padded.ok()) << padded.status();
  EXPECT_EQ(std::vector<float>(padded->begin(), padded->end()),
            (std::vector<float>{0, 0, 0, 0, 1, 2, 0, 0, 3, 4, 0, 0}));
}

}  // namespace
}  // namespace tributary::inline engine
