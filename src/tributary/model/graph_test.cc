#include "tributary/model/graph.h"

#include <gtest/gtest.h>

#include "tributary/base/distributions.h"
#include "tributary/model/operation.h"

namespace tributary::inline model {
namespace {

std::string ErrorOf(const StatusOr<Graph>& graph) {
  return graph.ok() ? "no error" : graph.status().message();
}

// A builder with one image input, the rest in `add`, ended by flatten and linear.
template <typename AddNodes>
StatusOr<Graph> Build(Shape input, AddNodes add) {
  GraphBuilder b("net", input);
  NodeIndex x = add(b);
  x = b.Add("flatten", Flatten{}, {x});
  b.Add("fc", Linear{10}, {x});
  return std::move(b).Build();
}

TEST(Shape, ReadsAndWrites) {
  EXPECT_EQ(FormatShape(*ParseShape("3x32x16")), "3x32x16");
  EXPECT_EQ(FormatShape(Shape::Flat(512)), "512");
  for (const char* bad :
       {"", "3", "3x32", "3x32x", "3x32x32x1", "0x3x3", "-1x3x3", "ax3x3", "3x99999999999999999999x3"}) {
    EXPECT_FALSE(ParseShape(bad).ok()) << bad;
  }
}

TEST(Graph, InfersShapesThroughEveryKind) {
  GraphBuilder b("net", {3, 33, 20});
  const NodeIndex conv =
      b.Add("conv", Conv{.out_channels = 8, .kernel = {5, 3}, .stride = {2, 1}, .padding = {2, 0}}, {0});
  EXPECT_EQ(b.shape(conv), (Shape{8, 17, 18}));
  const NodeIndex dilated =
      b.Add("dilated", Conv{.out_channels = 8, .kernel = {3, 3}, .dilation = {2, 2}}, {conv});
  EXPECT_EQ(b.shape(dilated), (Shape{8, 13, 14}));
  const NodeIndex down = b.Add("pool", MaxPool{{3, 3}, {2, 2}}, {dilated});
  EXPECT_EQ(b.shape(down), (Shape{8, 6, 6}));
  const NodeIndex up = b.Add("pool-up", AvgPool{{3, 3}, {2, 2}, {0, 0}, true}, {dilated});
  EXPECT_EQ(b.shape(up), (Shape{8, 6, 7}));
  const NodeIndex both = b.Add("cat", Concat{}, {down, down});
  EXPECT_EQ(b.shape(both), (Shape{16, 6, 6}));
  const NodeIndex sum = b.Add("sum", Add{}, {both, both});
  const NodeIndex mean = b.Add("mean", GlobalAvgPool{}, {sum});
  EXPECT_EQ(b.shape(mean), (Shape{16, 1, 1}));
  const NodeIndex other = b.Add("other", GlobalAvgPool{}, {up});
  const NodeIndex flat = b.Add("flat", Flatten{}, {b.Add("all", Concat{}, {mean, other})});
  EXPECT_EQ(b.shape(flat), Shape::Flat(24));
  b.Add("fc", Linear{7}, {flat});
  const auto graph = std::move(b).Build();
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->classes(), 7);
  EXPECT_EQ(graph->last_use(down), both);
}

TEST(Graph, PoolingThatRoundsUpKeepsNoWindowOutsideTheImage) {
  // Size 1, stride 2, window 1: rounding up would start a second window past the end.
  GraphBuilder b("net", {1, 4, 4});
  const NodeIndex pool = b.Add("pool", MaxPool{{1, 1}, {3, 3}, {0, 0}, true}, {0});
  EXPECT_EQ(b.shape(pool), (Shape{1, 2, 2}));
  const NodeIndex second = b.Add("second", MaxPool{{2, 2}, {2, 2}, {1, 1}, true}, {pool});
  EXPECT_EQ(b.shape(second), (Shape{1, 2, 2}));
}

TEST(Graph, ErrorsNameTheNode) {
  EXPECT_EQ(ErrorOf(Build({3, 4, 4},
                          [](GraphBuilder& b) {
                            return b.Add("big", Conv{.out_channels = 4, .kernel = {7, 7}}, {0});
                          })),
            "node 'big' (conv) of net: a window of 7x7 does not fit into its input 3x4x4 (padding 0x0); use "
            "a larger "
            "--input or a network with fewer reductions");
  EXPECT_EQ(ErrorOf(Build({3, 4, 4},
                          [](GraphBuilder& b) {
                            return b.Add("g", Conv{.out_channels = 4, .kernel = {1, 1}, .groups = 2}, {0});
                          })),
            "node 'g' (conv) of net: 2 groups do not divide 3 input and 4 output channels");
  EXPECT_EQ(ErrorOf(Build({3, 4, 4},
                          [](GraphBuilder& b) {
                            const NodeIndex c = b.Add("c", Conv{.out_channels = 4, .kernel = {1, 1}}, {0});
                            return b.Add("sum", Add{}, {0, c});
                          })),
            "node 'sum' (add) of net: adds tensors of different shapes: 3x4x4 and 4x4x4");
  EXPECT_EQ(ErrorOf(Build({3, 4, 4}, [](GraphBuilder& b) { return b.Add("fc0", Linear{4}, {0}); })),
            "node 'fc0' (linear) of net: needs a flat input, found 3x4x4; put a flatten before it");
  EXPECT_EQ(ErrorOf(Build({3, 4, 4}, [](GraphBuilder& b) { return b.Add("r", Relu{}, {9}); })),
            "node 'r' (relu) of net: reads node 9, which does not come before it");
  EXPECT_EQ(ErrorOf(Build({3, 4, 4}, [](GraphBuilder& b) { return b.Add("r", Relu{}, {}); })),
            "node 'r' (relu) of net: takes one input, found 0");
  EXPECT_EQ(ErrorOf(Build({3, 4, 4}, [](GraphBuilder& b) { return b.Add("input", Relu{}, {0}); })),
            "two nodes of net are named 'input'");
  EXPECT_EQ(ErrorOf(Build({3, 4, 4},
                          [](GraphBuilder& b) {
                            b.Add("lost", Relu{}, {0});
                            return b.Add("r", Relu{}, {0});
                          })),
            "node 'lost' of net is used by no other node");
  EXPECT_EQ(ErrorOf(Build({3, 4, 4}, [](GraphBuilder& b) { return b.Add("d", Dropout{1.0}, {0}); })),
            "node 'd' (dropout) of net: a dropout rate lies in [0, 1)");
  GraphBuilder open("net", {3, 4, 4});
  open.Add("r", Relu{}, {0});
  EXPECT_NE(ErrorOf(std::move(open).Build()).find("must give one score per class, found 3x4x4"),
            std::string::npos);
}

TEST(Graph, OnlyPartsHaveFurtherInputsAndEndInAnyShape) {
  const auto build = [](bool part) {
    GraphBuilder b("net", {3, 4, 4});
    b.Add("relu", Relu{}, {0});
    const NodeIndex second = b.Add("second", Input{{2, 4, 4}}, {});
    b.Add("relu2", Relu{}, {second});
    return part ? std::move(b).BuildPart() : std::move(b).Build();
  };
  EXPECT_EQ(build(false).status().message(),
            "node 'second' (input) of net: a network has one input, and it is the first node");
  ASSERT_TRUE(build(true).ok()) << build(true).status();
  EXPECT_EQ(build(true)->shape(3), (Shape{2, 4, 4}));

  GraphBuilder lost("net", {3, 4, 4});
  lost.Add("lost", Relu{}, {0});
  lost.Add("relu", Relu{}, {0});
  lost.Add("second", Input{{2, 4, 4}}, {});
  EXPECT_EQ(std::move(lost).BuildPart().status().message(), "node 'lost' of net is used by no other node");
}

TEST(ShapeInference, AnswersAnyNumbers) {
  // Random, mostly absurd operations: a shape within the bounds or an error, never an overflow (UBSan watches).
  Rng rng(1);
  const auto number = [&]() -> std::int64_t {
    switch (rng.Below(4)) {
      case 0:
        return static_cast<std::int64_t>(rng.Below(5));
      case 1:
        return -static_cast<std::int64_t>(rng.Below(3));
      case 2:
        return static_cast<std::int64_t>(rng.Next());
      default:
        return static_cast<std::int64_t>(rng.Below(std::uint64_t{1} << 25));
    }
  };
  const auto extent = [&] { return Extent{number(), number()}; };
  int fitting = 0;
  for (int i = 0; i < 100'000; ++i) {
    const auto size = [&] { return 1 + static_cast<std::int64_t>(rng.Below(70'000)); };
    const std::vector<Shape> inputs = {Shape{size(), 1 + size() / 10, 1 + size() / 10, rng.Below(4) == 0}};
    const std::vector<Operation> operations = {
        Conv{number(), extent(), extent(), extent(), extent(), number(), true},
        MaxPool{extent(), extent(), extent(), rng.Below(2) == 0},
        AvgPool{extent(), extent(), extent(), rng.Below(2) == 0},
        GroupNorm{number()},
        Linear{number()},
        Flatten{}};
    const auto shape = InferShape(operations[rng.Below(operations.size())], inputs);
    if (!shape.ok()) continue;
    ++fitting;
    ASSERT_GE(shape->elements(), 1);
    ASSERT_LE(shape->elements(), std::int64_t{1} << 40);
  }
  EXPECT_GT(fitting, 1000);
}

}  // namespace
}  // namespace tributary::inline model
