#include <gtest/gtest.h>

#include <numeric>

#include "tributary/model/initialise.h"
#include "tributary/model/model.h"
#include "tributary/model/zoo.h"

namespace tributary::inline model {
namespace {

Graph Resnet8() { return BuildZooGraph({"resnet8", Shape{3, 32, 32}, 10}).value(); }

struct Frozen {
  explicit Frozen(const std::vector<std::string>& names)
      : whole(Resnet8()), parameters(whole.parameters.size), statistics(whole.statistics.size) {
    InitialiseWeights(whole, 3, parameters.span(), statistics.span());
    model.emplace(
        Freeze(whole, FrozenNodes(whole.graph, names).value(), parameters.span(), statistics.span()));
  }
  Model whole;
  FlatBuffer parameters, statistics;
  std::optional<Model> model;
};

std::vector<std::string> NamesIn(const Layout& layout) {
  std::vector<std::string> names;
  for (const Layout::Slot& slot : layout.slots) names.push_back(slot.name);
  return names;
}

TEST(Freeze, TakesModulesAndLayersWithTheirNorms) {
  const Frozen frozen({"conv1", "layer1"});
  EXPECT_EQ(
      NamesIn(frozen.model->constants),
      (std::vector<std::string>{"conv1.weight", "bn1.weight", "bn1.bias", "bn1.running_mean",
                                "bn1.running_var", "layer1.0.conv1.weight", "layer1.0.bn1.weight",
                                "layer1.0.bn1.bias", "layer1.0.bn1.running_mean", "layer1.0.bn1.running_var",
                                "layer1.0.conv2.weight", "layer1.0.bn2.weight", "layer1.0.bn2.bias",
                                "layer1.0.bn2.running_mean", "layer1.0.bn2.running_var"}));
  EXPECT_EQ(frozen.model->units.front().name, "layer2.0.conv1");
  EXPECT_EQ(frozen.model->parameters.slots.front().name, "layer2.0.conv1.weight");
  EXPECT_EQ(frozen.model->units.size() + 3, frozen.whole.units.size());
}

// Whatever is not trained is a constant, whatever is trained a parameter, and both have the values they had.
TEST(Freeze, LosesNoWeight) {
  const Frozen frozen({"layer2"});
  const Model& model = *frozen.model;
  FlatBuffer parameters(model.parameters.size), statistics(model.statistics.size);
  CopyTrained(frozen.whole.parameters, frozen.parameters.span(), model.parameters, parameters.span());
  CopyTrained(frozen.whole.statistics, frozen.statistics.span(), model.statistics, statistics.span());
  std::map<std::string, std::vector<float>> values;
  const auto note = [&](const Layout& layout, std::span<const float> memory) {
    for (const Layout::Slot& slot : layout.slots) {
      const auto part = memory.subspan(slot.segment.offset, slot.segment.count);
      EXPECT_TRUE(values.emplace(slot.name, std::vector<float>(part.begin(), part.end())).second)
          << slot.name;
    }
  };
  note(model.parameters, parameters.span());
  note(model.statistics, statistics.span());
  note(model.constants, model.constant_values->span());
  std::map<std::string, std::vector<float>> mine;
  std::swap(values, mine);
  note(frozen.whole.parameters, frozen.parameters.span());
  note(frozen.whole.statistics, frozen.statistics.span());
  EXPECT_EQ(mine, values);
}

// Channels of a frozen layer, and those it reads, are not thinned; others still are.
TEST(Freeze, LeavesFrozenLayersTheirChannels) {
  const Frozen frozen({"layer2.0.conv2"});
  std::vector<std::string> groups, of_whole;
  for (const auto& group : frozen.model->channels.groups) groups.push_back(group.name);
  for (const auto& group : frozen.whole.channels.groups) of_whole.push_back(group.name);
  EXPECT_EQ(of_whole, (std::vector<std::string>{"conv1", "layer1.0.conv1", "layer2.0.conv1", "layer2.0.conv2",
                                                "layer3.0.conv1", "layer3.0.conv2"}));
  EXPECT_EQ(groups,
            (std::vector<std::string>{"conv1", "layer1.0.conv1", "layer3.0.conv1", "layer3.0.conv2"}));
}

TEST(Freeze, CostsNoWayBackBeforeTheFirstLayerThatIsTrained) {
  const auto sums = [](const Model& model) {
    const UnitCosts costs = CostsOfUnits(model);
    return std::pair(std::accumulate(costs.macs.begin(), costs.macs.end(), 0.0),
                     std::accumulate(costs.backward.begin(), costs.backward.end(), 0.0));
  };
  const auto macs_of = [](const Model& model, const std::string& name) {
    for (NodeIndex i = 0; i < model.graph.size(); ++i) {
      if (model.graph.node(i).name == name) return static_cast<double>(model.costs[i].macs.value);
    }
    return 0.0;
  };
  const Frozen front({"conv1", "layer1"});
  const auto [all, back] = sums(front.whole);
  EXPECT_EQ(back, 2 * all);
  const double in_front = macs_of(front.whole, "conv1") + macs_of(front.whole, "layer1.0.conv1") +
                          macs_of(front.whole, "layer1.0.conv2");
  EXPECT_EQ(sums(*front.model), std::pair(all, 2 * (all - in_front)));
  // In the middle, the gradient goes through to the layers before.
  const Frozen middle({"layer2.0.conv2"});
  EXPECT_EQ(sums(*middle.model), std::pair(all, 2 * all - macs_of(front.whole, "layer2.0.conv2")));
}

TEST(Freeze, NamesWhatItDoesNotFind) {
  const Graph graph = Resnet8();
  const auto message = [&](std::vector<std::string> names) {
    return FrozenNodes(graph, names).status().message();
  };
  EXPECT_EQ(message({"conv1", "layer11"}).substr(0, 64),
            "unknown layer of resnet8 'layer11'; did you mean 'layer1'? Known");
  EXPECT_EQ(message({"conv1", "layer1", "layer2", "layer3", "fc"}),
            "all layers of resnet8 are frozen, and there is nothing to train");
  EXPECT_EQ(message({"layer"}).substr(0, 30), "unknown layer of resnet8 'laye");
}

}  // namespace
}  // namespace tributary::inline model
