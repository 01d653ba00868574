#include "tributary/model/adapt_graph.h"

#include <gtest/gtest.h>

#include "tributary/model/zoo.h"

namespace tributary {
namespace {

TEST(AdaptGraph, TakesOtherImagesWhereWeightsStayTheSame) {
  const Graph pooled = BuildZooGraph({"resnet8", Shape{3, 32, 32}, 10}).value();
  const auto larger = WithInput(pooled, Shape{3, 48, 40});
  ASSERT_TRUE(larger.ok()) << larger.status();
  EXPECT_EQ(larger->input_shape(), (Shape{3, 48, 40}));
  EXPECT_EQ(larger->shape(1), (Shape{16, 48, 40}));
  EXPECT_EQ(WithInput(pooled, Shape{1, 32, 32}).status().message(),
            "resnet8 was made for samples of 3x32x32 and does not take those of 1x32x32: its layer 'conv1' "
            "would need other"
            " weights. Export it for this shape");
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
            "resnet8 knows 10 classes, and the data have 12; a new head (new-head = true, --new-head) starts "
            "its last layer anew");
}

}  // namespace
}  // namespace tributary
