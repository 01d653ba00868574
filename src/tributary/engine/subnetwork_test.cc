#include "tributary/engine/subnetwork.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>

#include "tributary/base/distributions.h"
#include "tributary/engine/compute.h"
#include "tributary/engine/leaves.h"
#include "tributary/engine/testing/reference_networks.h"
#include "tributary/model/initialise.h"
#include "tributary/model/zoo.h"

namespace tributary::inline engine {
namespace {

constexpr std::size_t kSamples = 4;

// All networks are looked at without sanitizers, under which the deep ones take too long.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t kDeepest = 25;  // transfer units
#else
constexpr std::size_t kDeepest = 1000;
#endif

// A whole network with weights away from their neutral start, and a random batch.
struct Whole {
  explicit Whole(StatusOr<Graph> graph)
      : model(std::make_shared<const Model>(std::move(graph).value())),
        parameters(model->parameters.size),
        statistics(model->statistics.size),
        gradients(model->parameters.size) {
    InitialiseWeights(*model, 1, parameters.span(), statistics.span());
    Rng rng(2);
    const auto disturb = [&](const Layout& layout, FlatBuffer& buffer, double by) {
      for (const Layout::Slot& slot : layout.slots) {
        if (slot.tensor.shape.size() > 1) continue;
        for (std::size_t i = 0; i < slot.segment.count; ++i) {
          buffer.data()[slot.segment.offset + i] += static_cast<float>(by * std::abs(Normal(rng)));
        }
      }
    };
    disturb(model->parameters, parameters, 0.2);
    disturb(model->statistics, statistics, 0.1);
    inputs.resize(kSamples * static_cast<std::size_t>(model->graph.input_shape().elements()));
    for (float& value : inputs) value = static_cast<float>(Normal(rng));
    for (std::size_t i = 0; i < kSamples; ++i) {
      labels.push_back(
          static_cast<std::int32_t>(rng.Below(static_cast<std::uint64_t>(model->graph.classes()))));
    }
  }

  std::shared_ptr<const Model> model;
  FlatBuffer parameters, statistics, gradients;
  std::vector<float> inputs;
  std::vector<std::int32_t> labels;
};

// Some of the atoms of each group: from this share of them, but at least one, to all.
KeptAtoms SomeAtoms(const ChannelGroups& groups, double least, std::uint64_t seed) {
  Rng rng(seed);
  KeptAtoms kept = AllAtoms(groups);
  for (auto& atoms : kept) {
    Shuffle(rng, std::span(atoms));
    const auto fewest =
        std::max<std::size_t>(1, static_cast<std::size_t>(least * static_cast<double>(atoms.size())));
    atoms.resize(fewest + static_cast<std::size_t>(rng.Below(atoms.size() - fewest + 1)));
    std::ranges::sort(atoms);
  }
  return kept;
}

// What a sub-network is to equal: the whole one, whose output of every node is multiplied by 0 where a channel is not kept,
// and with scaling, what dense layers read by how many times fewer channels there are.
struct Masked {
  std::vector<float> scores;
  double loss = 0;
};

Masked RunMasked(Whole& whole, const KeptAtoms& kept, FilterScaling scaling, bool train) {
  const Model& model = *whole.model;
  const PlacedMemory memory(model, {whole.parameters.span(), whole.statistics.span(), whole.gradients.span()},
                            TorchDevice::kCpu, false);
  Leaves leaves(model, memory);
  const auto remain = ChannelsThatRemain(model.channels, kept);
  const auto masked = [&](const at::Tensor& value, NodeIndex node) {
    const auto channels = static_cast<std::int64_t>(model.channels.of_node[node].size());
    at::Tensor mask = at::zeros({channels});
    for (const std::int32_t channel : remain[node]) mask[channel] = 1;
    return value * (value.dim() == 4 ? mask.view({1, channels, 1, 1}) : mask.view({1, channels}));
  };
  const auto compensated = [&](const at::Tensor& value, NodeIndex node) {
    const auto& of_node = model.channels.of_node[node];
    at::Tensor factor = at::ones({static_cast<std::int64_t>(of_node.size())});
    for (std::size_t i = 0; i < of_node.size(); ++i) {
      if (of_node[i].group < 0) continue;
      const auto group = static_cast<std::size_t>(of_node[i].group);
      factor[static_cast<std::int64_t>(i)] =
          static_cast<double>(model.channels.groups[group].atoms) / static_cast<double>(kept[group].size());
    }
    return value * (value.dim() == 4 ? factor.view({1, -1, 1, 1}) : factor.view({1, -1}));
  };

  const Graph& graph = model.graph;
  std::vector<at::Tensor> values(graph.size());
  const Shape& shape = graph.input_shape();
  values[0] = at::from_blob(whole.inputs.data(),
                            {static_cast<std::int64_t>(kSamples), shape.channels, shape.height, shape.width},
                            at::kFloat);
  for (NodeIndex i = 1; i < graph.size(); ++i) {
    const Operation& operation = graph.node(i).operation;
    std::vector<at::Tensor> inputs;
    for (const NodeIndex source : graph.node(i).inputs) inputs.push_back(values[source]);
    const auto* conv = std::get_if<Conv>(&operation);
    if (scaling == FilterScaling::kInverse &&
        ((conv != nullptr && conv->groups == 1) || std::holds_alternative<Linear>(operation))) {
      inputs[0] = compensated(inputs[0], graph.node(i).inputs[0]);
    }
    // Without the network's own dropout nodes, whose chance is another one with other sizes.
    values[i] = masked(Apply(operation, inputs, leaves.node(i), {train, false, false, nullptr}), i);
  }
  at::Tensor labels = at::empty({static_cast<std::int64_t>(kSamples)}, at::kLong);
  for (std::size_t i = 0; i < kSamples; ++i) labels[static_cast<std::int64_t>(i)] = whole.labels[i];
  const at::Tensor loss = at::cross_entropy_loss(values.back(), labels);
  if (train) {
    leaves.BeginBackward(std::vector<bool>(model.units.size(), true), {});
    loss.backward();
  }
  const at::Tensor scores = values.back().detach().contiguous();
  const float* data = scores.data_ptr<float>();
  return {{data, data + scores.numel()}, loss.item<double>()};
}

// Largest difference, relative to the largest value.
double Difference(std::span<const float> a, std::span<const float> b) {
  EXPECT_EQ(a.size(), b.size());
  double largest = 1e-30, difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max<double>(largest, std::abs(a[i]));
    difference = std::max<double>(difference, std::abs(a[i] - b[i]));
  }
  return difference / largest;
}

std::vector<float> Copy(std::span<const float> values) { return {values.begin(), values.end()}; }

bool HasDropout(const Graph& graph) {
  return std::ranges::any_of(
      graph.nodes(), [](const Node& node) { return std::holds_alternative<Dropout>(node.operation); });
}

void GatherAll(Subnetwork& subnetwork, const Whole& whole) {
  for (std::size_t unit = 0; unit < whole.model->units.size(); ++unit) {
    subnetwork.Gather(unit, whole.parameters.span(), whole.statistics.span());
  }
}

void ExpectMasked(StatusOr<Graph> graph, FilterScaling scaling, std::uint64_t seed) {
  Whole whole(std::move(graph));
  const std::string& name = whole.model->graph.name();
  // Where the rest makes up for what is left out, values would grow without bounds in a deep network with few channels.
  const KeptAtoms kept = SomeAtoms(whole.model->channels, scaling == FilterScaling::kInverse ? 0.8 : 0, seed);
  Subnetworks networks(whole.model, scaling, {.format = MemoryFormat::kContiguous});
  Subnetwork& subnetwork = networks.Of(kept);
  GatherAll(subnetwork, whole);

  const auto scores = subnetwork.executor().Predict(whole.inputs, subnetwork.model().graph.size() - 1);
  ASSERT_TRUE(scores.ok()) << scores.status();
  const std::vector<float> predicted = Copy(*scores);
  EXPECT_LE(Difference(RunMasked(whole, kept, scaling, false).scores, predicted), 1e-5) << name;
  // A training pass that has a chance of its own cannot be compared, and one of a very deep network takes long.
  if (HasDropout(whole.model->graph) || whole.model->units.size() > 60) return;

  const auto pass = subnetwork.executor().Train({whole.inputs, whole.labels});
  ASSERT_TRUE(pass.ok()) << pass.status();
  FlatBuffer gradients(whole.model->parameters.size);
  std::vector<float> statistics = Copy(whole.statistics.span());
  for (std::size_t unit = 0; unit < whole.model->units.size(); ++unit) {
    subnetwork.Uncompensate(unit);
    subnetwork.map().Scatter(SubnetworkMap::Part::kParameters, unit, subnetwork.gradients(),
                             gradients.span());
    subnetwork.map().Scatter(SubnetworkMap::Part::kStatistics, unit, subnetwork.statistics(), statistics);
  }
  const std::vector<float> before = Copy(whole.statistics.span());
  const Masked masked = RunMasked(whole, kept, scaling, true);
  const std::vector<float> expected = Copy(whole.gradients.span()), moved = Copy(whole.statistics.span());
  EXPECT_NEAR(pass->loss, masked.loss, 1e-5 * masked.loss) << name;
  // Batch norms of a deep network with random weights amplify rounding; by how much, a change in the last bit tells.
  std::ranges::copy(before, whole.statistics.data());
  for (float& value : whole.inputs) value *= 1 + 1.2e-7F;
  RunMasked(whole, kept, scaling, true);
  const double shaken = Difference(expected, whole.gradients.span());
  EXPECT_LE(Difference(expected, gradients.span()), std::max(1e-5, 20 * shaken)) << name;
  const auto remain = ChannelsThatRemain(whole.model->channels, kept);
  for (const Layout::Slot& slot : whole.model->statistics.slots) {
    for (const std::int32_t channel : remain[slot.node]) {
      const std::size_t at = slot.segment.offset + static_cast<std::size_t>(channel);
      EXPECT_NEAR(statistics[at], moved[at], 1e-4) << slot.name;
    }
  }
  // What is left out has no gradient at all.
  std::size_t untouched = 0;
  for (std::size_t i = 0; i < gradients.size(); ++i)
    untouched += gradients.data()[i] == 0 && expected[i] != 0;
  EXPECT_EQ(untouched, 0U) << name;
}

StatusOr<Graph> SmallZoo(const NetworkKind& entry) {
  const Shape small = entry.input.height > 64 ? Shape{entry.input.channels, 32, 32} : entry.input;
  return BuildZooGraph({entry.name, small, 10, Stem::kAuto, {}, {}});
}

TEST(Subnetwork, EqualsTheWholeOneWithMaskedChannelsForEveryNetwork) {
  SetComputeThreads(1);
  for (const NetworkKind& entry : Zoo()) {
    StatusOr<Graph> graph = SmallZoo(entry);
    ASSERT_TRUE(graph.ok()) << graph.status();
    if (TransferUnits(*graph).size() <= kDeepest) ExpectMasked(std::move(graph), FilterScaling::kNone, 7);
  }
}

TEST(Subnetwork, CompensatesForWhatIsLeftOut) {
  for (const std::uint64_t seed : {11, 12, 13}) {
    for (const std::string name : {"cnn", "resnet8", "googlenet"}) {
      ExpectMasked(BuildZooGraph({name, Shape{3, 32, 32}, 10, Stem::kAuto, {}, {}}), FilterScaling::kInverse,
                   seed);
    }
    ExpectMasked(MakeEveryKindGraph(), FilterScaling::kInverse, seed);
  }
}

TEST(Subnetwork, KeepsEveryKindOfNode) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed)
    ExpectMasked(MakeEveryKindGraph(), FilterScaling::kNone, seed);
}

TEST(Subnetwork, KeepingEverythingIsTheWholeNetworkToTheBit) {
  Whole whole(BuildZooGraph({"resnet8", Shape{3, 32, 32}, 10, Stem::kAuto, {}, {}}));
  Subnetworks networks(whole.model, FilterScaling::kInverse);
  Subnetwork& subnetwork = networks.Of(AllAtoms(whole.model->channels));
  GatherAll(subnetwork, whole);
  Executor executor(whole.model, {whole.parameters.span(), whole.statistics.span(), whole.gradients.span()});
  ASSERT_TRUE(executor.Train({whole.inputs, whole.labels}).ok());
  ASSERT_TRUE(subnetwork.executor().Train({whole.inputs, whole.labels}).ok());
  EXPECT_TRUE(std::ranges::equal(whole.gradients.span(), subnetwork.gradients()));
}

// Another choice of as many channels uses the same memory and gives what a new network would.
TEST(Subnetwork, IsMadeOncePerSize) {
  Whole whole(BuildZooGraph({"resnet8", Shape{3, 32, 32}, 10, Stem::kAuto, {}, {}}));
  const auto halves = [&](bool upper) {
    KeptAtoms kept = AllAtoms(whole.model->channels);
    for (auto& atoms : kept) {
      const auto half = static_cast<std::ptrdiff_t>(atoms.size() / 2);
      upper ? atoms.erase(atoms.begin(), atoms.begin() + half)
            : atoms.erase(atoms.begin() + half, atoms.end());
    }
    return kept;
  };
  Subnetworks networks(whole.model, FilterScaling::kNone), fresh(whole.model, FilterScaling::kNone);
  Subnetwork& lower = networks.Of(halves(false));
  Subnetwork& upper = networks.Of(halves(true));
  EXPECT_EQ(&lower, &upper);
  Subnetwork& other = fresh.Of(halves(true));
  for (Subnetwork* network : {&upper, &other}) {
    GatherAll(*network, whole);
    ASSERT_TRUE(network->executor().Train({whole.inputs, whole.labels}).ok());
  }
  EXPECT_TRUE(std::ranges::equal(upper.gradients(), other.gradients()));
}

}  // namespace
}  // namespace tributary::inline engine
