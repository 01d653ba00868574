#include "tributary/model/adapt_graph.h"

#include <gtest/gtest.h>

#include "tributary/model/model.h"
#include "tributary/model/split_points.h"
#include "tributary/model/zoo.h"

namespace tributary::inline model {
namespace {

TEST(AdaptGraph, TakesOtherImagesWhereWeightsStayTheSame) {
  const Graph pooled = BuildZooGraph({"resnet8", Shape{3, 32, 32}, 10}).value();
  const auto larger = WithInput(pooled, Shape{3, 48, 40});
  ASSERT_TRUE(larger.ok()) << larger.status();
  EXPECT_EQ(larger->input_shape(), (Shape{3, 48, 40}));
  EXPECT_EQ(larger->shape(1), (Shape{16, 48, 40}));
  EXPECT_EQ(WithInput(pooled, Shape{1, 32, 32}).status().message(),
            "resnet8 was made for samples of 3x32x32 and does not take those of 1x32x32: its layer 'conv1' "
            "would need other weights; export the network for this shape");
  const Graph flattened = BuildZooGraph({"cnn", Shape{3, 32, 32}, 10}).value();
  EXPECT_NE(WithInput(flattened, Shape{3, 36, 36}).status().message().find("its layer 'fc1'"),
            std::string::npos);
  EXPECT_NE(WithInput(flattened, Shape{3, 2, 2}).status().message().find("a window of 2x2 does not fit"),
            std::string::npos);
}

TEST(AdaptGraph, ReplacesTheHeadForOtherClassesOnlyIfAsked) {
  const Graph graph = BuildZooGraph({"resnet8", Shape{3, 32, 32}, 10}).value();
  EXPECT_EQ(FitToData(graph, graph.input_shape(), 7, false)->classes(), 10);
  EXPECT_EQ(FitToData(graph, graph.input_shape(), 7, true)->classes(), 7);
  EXPECT_EQ(FitToData(graph, graph.input_shape(), 12, true)->classes(), 12);
  EXPECT_EQ(FitToData(graph, graph.input_shape(), 12, false).status().message(),
            "resnet8 knows 10 classes, and the data have 12; a new head (new-head = true, --new-head) "
            "re-initialises its last layer");
}

Graph ZooGraph(const std::string& name) {
  auto graph = BuildZooGraph({name, Shape{3, 32, 32}, {}, Stem::kAuto});
  TRIBUTARY_CHECK(graph.ok());
  return std::move(graph).value();
}

// The largest power of two up to 32 that divides the channels: by its meaning, not by Euclid.
std::int64_t Groups(std::int64_t channels) {
  std::int64_t groups = 32;
  while (channels % groups != 0) groups /= 2;
  return groups;
}

TEST(WithGroupNorms, ReplacesBatchNormsOfItsNodesAndNothingElse) {
  for (const char* name : {"resnet8", "googlenet", "mobilenet-v2", "inception-v4", "densenet-40"}) {
    const Graph graph = ZooGraph(name);
    for (const NodeIndex last :
         {NodeIndex{0}, NodeIndex{1}, NodeIndex{2}, graph.size() / 2, graph.size() - 1}) {
      const Graph replaced = WithGroupNorms(graph, 1, last);
      ASSERT_EQ(replaced.size(), graph.size());
      for (NodeIndex i = 0; i < graph.size(); ++i) {
        const Node& before = graph.node(i);
        const Node& after = replaced.node(i);
        EXPECT_EQ(after.name, before.name);
        EXPECT_EQ(after.inputs, before.inputs);
        EXPECT_EQ(replaced.shape(i), graph.shape(i));
        const auto* norm = std::get_if<BatchNorm>(&before.operation);
        if (norm == nullptr || i > last) {
          EXPECT_EQ(after.operation.index(), before.operation.index());
          continue;
        }
        const auto* group_norm = std::get_if<GroupNorm>(&after.operation);
        ASSERT_NE(group_norm, nullptr) << before.name;
        EXPECT_EQ(group_norm->groups, Groups(graph.shape(i).channels)) << before.name;
        EXPECT_EQ(group_norm->epsilon, norm->epsilon);
      }
      const Model old_model(graph);
      const Model new_model(replaced);
      EXPECT_EQ(new_model.parameters.units, old_model.parameters.units);
      if (last + 1 == graph.size()) {
        EXPECT_EQ(new_model.statistics.size, 0U);
      }
    }
  }
}

TEST(WithGroupNorms, HasFewerGroupsWhereThirtyTwoDoNotDivide) {
  for (const auto& [channels, groups] : {std::pair{48, 16}, {24, 8}, {7, 1}, {64, 32}, {1, 1}, {6, 2}}) {
    GraphBuilder b("net", {channels, 4, 4});
    const NodeIndex norm = b.Add("norm", BatchNorm{1e-3}, {0});
    b.Add("fc", Linear{2}, {b.Add("flatten", Flatten{}, {norm})});
    const Graph replaced = WithGroupNorms(std::move(b).Build().value(), 1, 3);
    EXPECT_EQ(std::get<GroupNorm>(replaced.node(norm).operation).groups, groups);
    EXPECT_EQ(std::get<GroupNorm>(replaced.node(norm).operation).epsilon, 1e-3);
  }
}

TEST(WithGroupNorms, WorksOnPartsOfANetwork) {
  const Graph graph = ZooGraph("resnet8");
  const Graph ends = EndsOf(graph, 3, graph.size() - 3);
  EXPECT_EQ(Model(WithGroupNorms(ends, 1, ends.size() - 1)).statistics.size, 0U);
}

TEST(FirstBatchStatistics, IsTheNextBatchNorm) {
  const Graph graph = ZooGraph("resnet8");  // input, conv1, bn1, relu, layer1.0.conv1, layer1.0.bn1 …
  EXPECT_EQ(FirstBatchStatistics(graph, 1), 2U);
  EXPECT_EQ(FirstBatchStatistics(graph, 2), 2U);
  EXPECT_EQ(FirstBatchStatistics(graph, 3), 5U);
  EXPECT_EQ(graph.node(5).name, "layer1.0.bn1");
  EXPECT_EQ(FirstBatchStatistics(graph, graph.size() - 1), graph.size());
  EXPECT_EQ(FirstBatchStatistics(graph, graph.size()), graph.size());
  EXPECT_EQ(FirstBatchStatistics(WithGroupNorms(graph, 1, graph.size() - 1), 1), graph.size());
  EXPECT_EQ(FirstBatchStatistics(WithGroupNorms(graph, 1, 4), 1), 5U);
}

}  // namespace

}  // namespace tributary::inline model
