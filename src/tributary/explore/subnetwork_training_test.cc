#include "tributary/explore/subnetwork_training.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tributary/data/batches.h"
#include "tributary/engine/compute.h"
#include "tributary/explore/testing_exploration.h"
#include "tributary/model/channel_groups.h"
#include "tributary/model/initialise.h"

namespace tributary::inline explore {
namespace {

struct SubnetworkTrainingTest : testing::Test {
  SubnetworkTrainingTest() {
    SetComputeThreads(1);
    InitialiseWeights(*model, 1, start.parameters.span(), start.statistics.span());
    GatherBatch(data, std::vector<std::uint32_t>{1, 2, 3, 4, 5, 6, 7, 8}, {}, {}, batch);
  }
  std::vector<std::int64_t> KeptAt(double rate) const {
    return KeptCounts(model->channels, std::vector<double>(model->channels.groups.size(), rate));
  }
  std::shared_ptr<const Model> model = SmallNetwork("resnet8");
  Dataset data = StripedImages(32);
  Snapshot start{*model};
  Batch batch;
};

// The oracle is the plain way: an executor and an optimiser over the whole network.
TEST_F(SubnetworkTrainingTest, WithEverythingKeptIsOrdinaryTraining) {
  const ExploreOptions options = QuickExploration();
  SubnetworkTraining training(model, options);
  training.Begin(start);
  training.Keep(KeptAt(0));
  Snapshot plain(*model);
  std::ranges::copy(start.parameters.span(), plain.parameters.data());
  std::ranges::copy(start.statistics.span(), plain.statistics.data());
  FlatBuffer gradients(plain.parameters.size());
  Executor executor(model, {plain.parameters.span(), plain.statistics.span(), gradients.span()});
  OptimiserOptions how;
  how.momentum = options.momentum;
  const auto optimiser = MakeOptimiser(how, gradients.size()).value();
  Rng rng(1);
  for (int step = 0; step < 4; ++step) {
    const auto loss = training.Step({batch.inputs, batch.labels}, rng);
    const auto expected = executor.Train({batch.inputs, batch.labels});
    ASSERT_TRUE(loss.ok() && expected.ok());
    EXPECT_EQ(*loss, expected->loss);
    optimiser->Step(plain.parameters.span(), gradients.span(), options.learning_rate);
  }
  EXPECT_TRUE(std::ranges::equal(training.weights().parameters.span(), plain.parameters.span()));
}

TEST_F(SubnetworkTrainingTest, MovesOnlyWhatIsKept) {
  SubnetworkTraining training(model, QuickExploration());
  training.Begin(start);
  training.Keep(KeptAt(0.9));
  Rng rng(1);
  const auto moved = [&] {
    const auto now = training.weights().parameters.span();
    std::size_t count = 0;
    for (std::size_t i = 0; i < now.size(); ++i) count += now[i] != start.parameters.data()[i] ? 1 : 0;
    return static_cast<double>(count) / static_cast<double>(now.size());
  };
  ASSERT_TRUE(training.Step({batch.inputs, batch.labels}, rng).ok());
  const double one = moved();
  EXPECT_GT(one, 0);
  EXPECT_LT(one, 0.2);
  // Other channels in every step: more and more of the network learns.
  for (int step = 0; step < 10; ++step) ASSERT_TRUE(training.Step({batch.inputs, batch.labels}, rng).ok());
  EXPECT_GT(moved(), 2 * one);
  // What was before does not shine through.
  training.Begin(start);
  training.Keep(KeptAt(0.5));
  EXPECT_EQ(moved(), 0);
}

// conv1 has 16 filters that lie one after the other; at half of them, the first eight learn and the others never.
TEST_F(SubnetworkTrainingTest, MovesTheFirstChannelsWhereThoseAreAskedFor) {
  ExploreOptions options = QuickExploration();
  options.channels = ChannelChoice::kFirst;
  SubnetworkTraining training(model, options);
  training.Begin(start);
  training.Keep(KeptAt(0.5));
  Rng rng(1);
  for (int step = 0; step < 10; ++step) ASSERT_TRUE(training.Step({batch.inputs, batch.labels}, rng).ok());
  const auto slot = std::ranges::find(model->parameters.slots, "conv1.weight", &Layout::Slot::name);
  ASSERT_NE(slot, model->parameters.slots.end());
  const std::size_t of_filter = slot->segment.count / 16;
  for (std::size_t i = 0; i < slot->segment.count; ++i) {
    const std::size_t at = slot->segment.offset + i;
    const bool moved = training.weights().parameters.data()[at] != start.parameters.data()[at];
    ASSERT_EQ(moved, i / of_filter < 8) << i;
  }
}

}  // namespace
}  // namespace tributary::inline explore
