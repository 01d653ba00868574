#include "tributary/model/split_points.h"

#include <gtest/gtest.h>

#include "tributary/model/model.h"
#include "tributary/model/zoo.h"

namespace tributary::inline model {
namespace {

Graph ZooGraph(const std::string& name) {
  auto graph = BuildZooGraph({name, Shape{3, 32, 32}, {}, Stem::kAuto});
  TRIBUTARY_CHECK(graph.ok());
  return std::move(graph).value();
}

std::string ErrorFor(const Graph& graph, std::string_view layer) {
  const auto cut = FindSplitPoint(graph, SplitPoints(graph), layer);
  return cut.ok() ? "no error" : cut.status().message();
}

TEST(FindSplitPoint, FindsEveryCutByItsName) {
  for (const char* name : {"resnet8", "googlenet", "vgg11", "densenet-40"}) {
    const Graph graph = ZooGraph(name);
    const std::vector<bool> cuts = SplitPoints(graph);
    for (NodeIndex i = 0; i < graph.size(); ++i) {
      const auto found = FindSplitPoint(graph, cuts, graph.node(i).name);
      EXPECT_EQ(found.ok(), cuts[i]);
      if (found.ok()) {
        EXPECT_EQ(*found, i);
      }
    }
  }
}

TEST(FindSplitPoint, NamesTheValidCuts) {
  const Graph graph = ZooGraph("resnet8");
  const std::string all =
      "It can be cut after: conv1, bn1, relu, layer1.0.add, layer1.0.relu, layer2.0.add, layer2.0.relu, "
      "layer3.0.add, layer3.0.relu, avgpool, flatten";
  EXPECT_EQ(ErrorFor(graph, "layer1.0.conv1"),
            "resnet8 cannot be cut after 'layer1.0.conv1': more than one tensor is needed beyond it. " + all);
  EXPECT_EQ(ErrorFor(graph, "input"),
            "resnet8 cannot be cut after 'input': devices would have no layer. " + all);
  EXPECT_EQ(
      ErrorFor(graph, "fc"),
      "resnet8 cannot be cut after 'fc': it is the last layer, and nothing would come after the cut. " + all);
  EXPECT_EQ(ErrorFor(graph, "layr1.0.add"),
            "resnet8 has no layer 'layr1.0.add'; did you mean 'layer1.0.add'? " + all);
  EXPECT_EQ(ErrorFor(graph, "somewhere"), "resnet8 has no layer 'somewhere'. " + all);
  EXPECT_EQ(ErrorFor(graph, ""), "resnet8 has no layer ''. " + all);
  EXPECT_LT(ErrorFor(graph, std::string(100'000, 'x')).size(), 300U);
}

TEST(FindSplitPoint, NamesTheNearestWhereThereAreMany) {
  const Graph graph = ZooGraph("resnet50");
  EXPECT_EQ(
      ErrorFor(graph, "layer2.1.conv1"),
      "resnet50 cannot be cut after 'layer2.1.conv1': more than one tensor is needed beyond it. It can be "
      "cut after 37 layers, the nearest: layer2.0.relu, layer2.1.add; `tributary models resnet50` lists "
      "them");
  const std::string unknown = ErrorFor(graph, "layer2.1.ad");
  EXPECT_EQ(
      unknown.find("resnet50 has no layer 'layer2.1.ad'; did you mean 'layer2.1.add'? It can be cut after 37 "
                   "layers, the nearest: layer2.1.add, layer"),
      0U)
      << unknown;
  EXPECT_EQ(ErrorFor(graph, "somewhere"),
            "resnet50 has no layer 'somewhere'. It can be cut after 37 layers; `tributary models resnet50` "
            "lists them");
}

TEST(FindSplitPoint, SaysSoWhereThereIsNoCut) {
  GraphBuilder b("braid", {1, 2, 2});
  const NodeIndex flat = b.Add("flat", Flatten{}, {0});
  const NodeIndex again = b.Add("again", Flatten{}, {0});
  b.Add("both", Concat{}, {flat, again});
  const Graph graph = std::move(b).Build().value();
  EXPECT_EQ(ErrorFor(graph, "flat"),
            "braid cannot be cut after 'flat': more than one tensor is needed beyond it. It can be cut "
            "nowhere: after "
            "every layer more than one tensor is needed.");
}

constexpr std::size_t kFloatsPerLine = 16;

// Norms that wait for their layer and norms that come late, around cuts at every kind of node.
Graph Awkward() {
  GraphBuilder b("awkward", {3, 8, 8});
  NodeIndex x = b.Add("norm0", BatchNorm{}, {0});
  x = b.Add("relu0", Relu{}, {x});
  const NodeIndex conv0 = b.Add("conv0", Conv{.out_channels = 5, .kernel = {3, 3}, .padding = {1, 1}}, {x});
  const NodeIndex side = b.Add("side", Conv{.out_channels = 7, .kernel = {1, 1}}, {conv0});
  const NodeIndex late = b.Add("late", BatchNorm{}, {conv0});  // behind another layer
  const NodeIndex second = b.Add("second", GroupNorm{5}, {conv0});
  const NodeIndex cat = b.Add("cat", Concat{}, {side, late, second});
  const NodeIndex norm1 = b.Add("norm1", BatchNorm{}, {cat});
  const NodeIndex relu1 = b.Add("relu1", Relu{}, {norm1});
  const NodeIndex pool = b.Add("pool", MaxPool{{1, 1}, {1, 1}}, {relu1});
  const NodeIndex pooled = b.Add("pooled", Conv{.out_channels = 3, .kernel = {1, 1}}, {pool});
  const NodeIndex conv1 = b.Add("conv1", Conv{.out_channels = 3, .kernel = {1, 1}}, {relu1});
  x = b.Add("add", Add{}, {pooled, conv1});
  x = b.Add("norm2", BatchNorm{}, {x});
  x = b.Add("mean", GlobalAvgPool{}, {x});
  x = b.Add("flatten", Flatten{}, {x});
  x = b.Add("fc1", Linear{9}, {x});
  x = b.Add("norm3", BatchNorm{}, {x});
  b.Add("fc2", Linear{4}, {x});
  auto graph = std::move(b).Build();
  TRIBUTARY_CHECK(graph.ok());
  return std::move(graph).value();
}

std::vector<Graph> Networks() {
  std::vector<Graph> graphs;
  for (const char* name : {"resnet8", "googlenet", "mobilenet-v2", "inception-v4", "vgg11", "resnet50"}) {
    graphs.push_back(ZooGraph(name));
  }
  for (const NetworkKind& entry : Zoo()) {
    auto graph = BuildZooGraph({entry.name, {}, {}, Stem::kAuto});
    if (graph->size() < 30) graphs.push_back(std::move(graph).value());  // the small ones, signals among them
  }
  graphs.push_back(Awkward());
  return graphs;
}

std::vector<NodeIndex> SplitPointsOf(const Graph& graph) {
  const std::vector<bool> cuts = SplitPoints(graph);
  std::vector<NodeIndex> nodes;
  for (NodeIndex i = 0; i < graph.size(); ++i) {
    if (cuts[i]) nodes.push_back(i);
  }
  return nodes;
}

// A stretch of the whole network and where it stands in the part: node i of the whole is node i − first + at.
struct Stretch {
  NodeIndex first;
  NodeIndex last;
  NodeIndex at;
};

// The part's layout must be what the whole one has of the stretches, each moved as one piece.
void ExpectStretches(const Layout& part, const Layout& whole, std::span<const Stretch> stretches) {
  std::size_t next = 0;   // slot of the part
  std::size_t start = 0;  // where the stretch begins in the part
  for (const Stretch& stretch : stretches) {
    std::optional<std::size_t> origin;
    for (const Layout::Slot& slot : whole.slots) {
      if (slot.node < stretch.first || slot.node > stretch.last) continue;
      if (!origin) origin = slot.segment.offset;
      ASSERT_LT(next, part.slots.size());
      const Layout::Slot& found = part.slots[next++];
      EXPECT_EQ(found.name, slot.name);
      EXPECT_EQ(found.node, slot.node - stretch.first + stretch.at);
      EXPECT_EQ(found.tensor.role, slot.tensor.role);
      EXPECT_EQ(found.tensor.shape, slot.tensor.shape);
      EXPECT_EQ(found.segment, (Segment{slot.segment.offset - *origin + start, slot.segment.count}));
    }
    if (origin) {
      const std::size_t end = part.slots[next - 1].segment.end();
      start = (end + kFloatsPerLine - 1) / kFloatsPerLine * kFloatsPerLine;
    }
  }
  EXPECT_EQ(next, part.slots.size());
  EXPECT_EQ(part.size, start);
}

void ExpectPart(const Model& part, const Model& whole, std::span<const Stretch> stretches) {
  for (const Stretch& stretch : stretches) {
    ASSERT_TRUE(std::holds_alternative<Input>(part.graph.node(stretch.at - 1).operation));
    EXPECT_EQ(part.graph.shape(stretch.at - 1), whole.graph.shape(stretch.first - 1));
    EXPECT_EQ(part.channels.of_node[stretch.at - 1][0], ChannelGroups::Channel{});
    for (NodeIndex i = stretch.first; i <= stretch.last; ++i) {
      const NodeIndex mine = i - stretch.first + stretch.at;
      const Node& node = part.graph.node(mine);
      EXPECT_EQ(node.name, whole.graph.node(i).name);
      EXPECT_EQ(node.operation.index(), whole.graph.node(i).operation.index());
      EXPECT_EQ(part.graph.shape(mine), whole.graph.shape(i));
      EXPECT_EQ(part.costs[mine].macs, whole.costs[i].macs);
      EXPECT_EQ(part.costs[mine].parameters, whole.costs[i].parameters);
      EXPECT_EQ(part.costs[mine].output, whole.costs[i].output);
      EXPECT_EQ(part.cuts[mine], whole.cuts[i] && mine + 1 < part.graph.size()) << node.name;
    }
    const auto& leaving = part.channels.of_node[stretch.last - stretch.first + stretch.at];
    for (const ChannelGroups::Channel& channel : leaving) ASSERT_EQ(channel, ChannelGroups::Channel{});
  }
  ExpectStretches(part.parameters, whole.parameters, stretches);
  ExpectStretches(part.statistics, whole.statistics, stretches);
}

double SumOf(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

TEST(PartOf, HasAtEveryCutThePrefixAndTheRestOfTheWhole) {
  for (const Graph& graph : Networks()) {
    const Model whole(graph);
    const NodeIndex end = graph.size() - 1;
    for (const NodeIndex cut : SplitPointsOf(graph)) {
      SCOPED_TRACE(graph.name() + " after " + graph.node(cut).name);
      const Model front(PartOf(graph, 1, cut));
      const Model back(PartOf(graph, cut + 1, end));
      ExpectPart(front, whole, std::vector<Stretch>{{1, cut, 1}});
      ExpectPart(back, whole, std::vector<Stretch>{{cut + 1, end, 1}});
      if (HasFailure()) return;

      EXPECT_EQ(front.parameters.size + back.parameters.size, whole.parameters.size);
      EXPECT_EQ(front.statistics.size + back.statistics.size, whole.statistics.size);
      // Units before the last, which the cut may go through, are the whole network's.
      for (std::size_t unit = 0; unit + 1 < front.units.size(); ++unit) {
        EXPECT_EQ(front.units[unit].nodes, whole.units[unit].nodes);
        EXPECT_EQ(front.parameters.units[unit], whole.parameters.units[unit]);
        EXPECT_EQ(front.statistics.units[unit], whole.statistics.units[unit]);
      }
      EXPECT_EQ(TotalMacs(front.costs) + TotalMacs(back.costs), TotalMacs(whole.costs));
      EXPECT_EQ(TotalParameters(front.costs) + TotalParameters(back.costs), TotalParameters(whole.costs));
      if (!front.units.empty() && !back.units.empty()) {
        EXPECT_EQ(SumOf(CostsOfUnits(front).macs) + SumOf(CostsOfUnits(back).macs),
                  SumOf(CostsOfUnits(whole).macs));
      }
    }
  }
}

TEST(PartOf, TakesTheMiddleAndTheWhole) {
  const Graph graph = ZooGraph("resnet8");
  const Model whole(graph);
  const NodeIndex end = graph.size() - 1;
  ExpectPart(Model(PartOf(graph, 1, end)), whole, std::vector<Stretch>{{1, end, 1}});
  const std::vector<NodeIndex> cuts = SplitPointsOf(graph);
  for (const NodeIndex from : cuts) {
    for (const NodeIndex to : cuts) {
      if (to > from)
        ExpectPart(Model(PartOf(graph, from + 1, to)), whole, std::vector<Stretch>{{from + 1, to, 1}});
    }
  }
}

TEST(EndsOf, HasBothStretchesOneAfterTheOther) {
  for (const Graph& graph : Networks()) {
    const Model whole(graph);
    const NodeIndex end = graph.size() - 1;
    const std::vector<NodeIndex> cuts = SplitPointsOf(graph);
    for (std::size_t i = 0; i < cuts.size(); ++i) {
      // All pairs of small networks; of others neighbours and the far end.
      const bool all = graph.size() < 50;
      for (std::size_t j = i + 1; j < cuts.size(); all || j + 1 == cuts.size() ? ++j : j = cuts.size() - 1) {
        SCOPED_TRACE(graph.name() + " after " + graph.node(cuts[i]).name + " and " +
                     graph.node(cuts[j]).name);
        const Model ends(EndsOf(graph, cuts[i], cuts[j]));
        ExpectPart(ends, whole, std::vector<Stretch>{{1, cuts[i], 1}, {cuts[j] + 1, end, cuts[i] + 2}});
        EXPECT_TRUE(ends.cuts[cuts[i]] && ends.cuts[cuts[i] + 1]);
        EXPECT_EQ(ends.graph.node(cuts[i] + 1).name, graph.node(cuts[j]).name);
        EXPECT_EQ(ends.graph.last_use(cuts[i]), cuts[i]);
        const Model middle(PartOf(graph, cuts[i] + 1, cuts[j]));
        EXPECT_EQ(ends.parameters.size + middle.parameters.size, whole.parameters.size);
        EXPECT_EQ(TotalMacs(ends.costs) + TotalMacs(middle.costs), TotalMacs(whole.costs));
        EXPECT_EQ(ends.graph.classes(), graph.classes());
        if (HasFailure()) return;
      }
    }
  }
}

}  // namespace

}  // namespace tributary::inline model
