// Split points, transfer units, layouts and initial weights.

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tributary/base/flat_buffer.h"
#include "tributary/model/initialise.h"
#include "tributary/model/model.h"
#include "tributary/model/zoo.h"

namespace tributary::inline model {
namespace {

Model Zoo(const std::string& name, std::optional<Shape> input = {}) {
  auto graph = BuildZooGraph({name, input, {}, Stem::kAuto});
  TRIBUTARY_CHECK(graph.ok());
  return Model(std::move(graph).value());
}

TEST(SplitPoints, AreWhereExactlyOneTensorCrosses) {
  // Against the definition: count, for every place, the tensors made before and read after it.
  for (const NetworkKind& entry : tributary::Zoo()) {
    const Model model = Zoo(entry.name, Shape{3, 32, 32});
    const Graph& graph = model.graph;
    for (NodeIndex i = 1; i + 1 < graph.size(); ++i) {
      std::set<NodeIndex> crossing;
      for (NodeIndex reader = i + 1; reader < graph.size(); ++reader) {
        for (const NodeIndex source : graph.node(reader).inputs) {
          if (source <= i) crossing.insert(source);
        }
      }
      EXPECT_EQ(model.cuts[i], crossing.size() == 1) << entry.name << " " << graph.node(i).name;
    }
    EXPECT_FALSE(model.cuts.front());
    EXPECT_FALSE(model.cuts.back());
  }
}

TEST(SplitPoints, LieBetweenTheBlocksOfAResNetNotInsideThem) {
  const Model model = Zoo("resnet8");
  std::vector<std::string> names;
  for (NodeIndex i = 0; i < model.graph.size(); ++i) {
    if (model.cuts[i]) names.push_back(model.graph.node(i).name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"conv1", "bn1", "relu", "layer1.0.add", "layer1.0.relu",
                                             "layer2.0.add", "layer2.0.relu", "layer3.0.add", "layer3.0.relu",
                                             "avgpool", "flatten"}));
}

TEST(TransferUnits, AreALayerWithItsNorm) {
  const Model model = Zoo("resnet18");
  EXPECT_EQ(model.units.size(), 21U);
  EXPECT_EQ(model.units[0].name, "conv1");
  EXPECT_EQ(model.units[0].nodes.size(), 2U);
  EXPECT_EQ(model.units.back().name, "fc");
  EXPECT_EQ(Zoo("vgg19").units.size(), 19U);
  EXPECT_EQ(Zoo("resnet152").units.size(), 156U);  // 151 convolutions, 4 shortcuts, 1 linear
}

TEST(TransferUnits, ANormBeforeItsLayerGoesWithIt) {
  GraphBuilder b("pre-activation", {3, 8, 8});
  const NodeIndex conv0 = b.Add("conv0", Conv{.out_channels = 4, .kernel = {1, 1}}, {0});
  const NodeIndex cat = b.Add("cat", Concat{}, {conv0, conv0});
  NodeIndex x = b.Add("norm1", BatchNorm{}, {cat});
  x = b.Add("relu1", Relu{}, {x});
  x = b.Add("conv1", Conv{.out_channels = 4, .kernel = {1, 1}}, {x});
  x = b.Add("join", Concat{}, {cat, x});
  x = b.Add("norm2", BatchNorm{}, {x});  // no layer reads it directly
  x = b.Add("pool", GlobalAvgPool{}, {x});
  x = b.Add("flatten", Flatten{}, {x});
  b.Add("fc", Linear{3}, {x});
  const auto graph = std::move(b).Build();
  ASSERT_TRUE(graph.ok()) << graph.status();
  std::vector<std::string> names;
  for (const TransferUnit& unit : TransferUnits(*graph)) {
    names.push_back(unit.name + "/" + std::to_string(unit.nodes.size()));
  }
  EXPECT_EQ(names, (std::vector<std::string>{"conv0/1", "conv1/2", "norm2/1", "fc/1"}));
}

TEST(Layout, HoldsEveryTensorOnceAlignedAndUnitByUnit) {
  for (const NetworkKind& entry : tributary::Zoo()) {
    const Model model = Zoo(entry.name, Shape{3, 32, 32});
    for (const Layout* layout : {&model.parameters, &model.statistics}) {
      std::set<std::string> names;
      std::size_t end = 0;
      std::size_t elements = 0;
      for (const Layout::Slot& slot : layout->slots) {
        EXPECT_TRUE(names.insert(slot.name).second) << slot.name;
        EXPECT_EQ(slot.segment.offset % 16, 0U);
        EXPECT_GE(slot.segment.offset, end);
        EXPECT_LT(slot.segment.offset, end + 16);
        end = slot.segment.end();
        elements += slot.segment.count;
      }
      EXPECT_GE(layout->size, end);
      if (layout == &model.parameters) {
        EXPECT_EQ(static_cast<std::int64_t>(elements), TotalParameters(model.costs));
      }
      std::size_t start = 0;
      for (const Segment& unit : layout->units) {
        EXPECT_EQ(unit.offset, start);
        start = unit.end();
      }
      EXPECT_EQ(start, layout->size);
    }
  }
}

TEST(InitialiseWeights, FollowsItsLawsAndLeavesThePaddingZero) {
  const Model model = Zoo("resnet20");
  FlatBuffer parameters(model.parameters.size);
  FlatBuffer statistics(model.statistics.size);
  InitialiseWeights(model, 1, parameters.span(), statistics.span());
  std::size_t covered = 0;
  double all = 0;
  for (const Layout::Slot& slot : model.parameters.slots) {
    double squares = 0;
    for (const float value : parameters.span().subspan(slot.segment.offset, slot.segment.count)) {
      squares += double{value} * value;
    }
    all += squares;
    covered += slot.segment.count;
    if (slot.name == "layer3.2.conv2.weight") {
      const auto count = static_cast<double>(slot.segment.count);  // 64 · 64 · 9, fan-out 576
      EXPECT_NEAR(squares / count, 2.0 / 576, 2.0 / 576 * 5 * std::sqrt(0.8 / count));
    }
    if (slot.name == "bn1.weight") {
      EXPECT_EQ(squares, 16);
    }
    if (slot.name == "fc.bias") {
      EXPECT_EQ(squares, 0);
    }
  }
  double whole = 0;
  for (const float value : parameters.span()) whole += double{value} * value;
  EXPECT_NEAR(whole, all, 1e-9 * whole);
  EXPECT_LT(covered, model.parameters.size);

  FlatBuffer again(model.parameters.size);
  InitialiseWeights(model, 1, again.span(), statistics.span());
  EXPECT_TRUE(std::equal(again.span().begin(), again.span().end(), parameters.span().begin()));
  InitialiseWeights(model, 2, again.span(), statistics.span());
  EXPECT_FALSE(std::equal(again.span().begin(), again.span().end(), parameters.span().begin()));
}

}  // namespace
}  // namespace tributary::inline model
