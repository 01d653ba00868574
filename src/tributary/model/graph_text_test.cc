#include "tributary/model/graph_text.h"

#include <gtest/gtest.h>

#include "tributary/model/layout.h"
#include "tributary/model/zoo.h"

namespace tributary::inline model {
namespace {

void ExpectSame(const Graph& a, const Graph& b) {
  ASSERT_EQ(a.size(), b.size());
  EXPECT_EQ(a.name(), b.name());
  for (NodeIndex i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a.node(i).name, b.node(i).name);
    EXPECT_EQ(KindName(a.node(i).operation), KindName(b.node(i).operation));
    EXPECT_EQ(a.node(i).inputs, b.node(i).inputs);
    EXPECT_EQ(a.shape(i), b.shape(i));
  }
}

TEST(GraphText, GivesEveryNetworkOfTheZooAgain) {
  for (const NetworkKind& entry : Zoo()) {
    const Graph graph = BuildZooGraph({entry.name}).value();
    const std::string text = FormatGraph(graph);
    const auto again = ParseGraph(text);
    ASSERT_TRUE(again.ok()) << entry.name << again.status();
    ExpectSame(graph, *again);
    EXPECT_EQ(FormatGraph(*again), text);
    EXPECT_EQ(ParameterLayout(graph, TransferUnits(graph)).size,
              ParameterLayout(*again, TransferUnits(*again)).size);
  }
}

// Every field of every kind, at a value that is not its default.
TEST(GraphText, KeepsEveryField) {
  GraphBuilder b("all", Shape{4, 20, 20});
  NodeIndex x = b.Add("c", Conv{8, {3, 5}, {2, 1}, {1, 2}, {1, 2}, 2, false}, {0});
  x = b.Add("p", Pad{{1, 2}, {3, 4}}, {x});
  x = b.Add("n", BatchNorm{2e-3, 0.25}, {x});
  x = b.Add("g", GroupNorm{4, 3e-3}, {x});
  x = b.Add("m", MaxPool{{2, 3}, {2, 1}, {1, 1}, true}, {x});
  x = b.Add("a", AvgPool{{2, 3}, {2, 1}, {1, 1}, true, false}, {x});
  x = b.Add("f", Flatten{}, {x});
  x = b.Add("d", Dropout{0.125}, {x});
  b.Add("l", Linear{7, false}, {x});
  const auto again = ParseGraph(FormatGraph(std::move(b).Build().value()));
  ASSERT_TRUE(again.ok()) << again.status();
  const auto& conv = std::get<Conv>(again->node(1).operation);
  EXPECT_EQ(conv.out_channels, 8);
  EXPECT_EQ(conv.kernel, (Extent{3, 5}));
  EXPECT_EQ(conv.stride, (Extent{2, 1}));
  EXPECT_EQ(conv.padding, (Extent{1, 2}));
  EXPECT_EQ(conv.dilation, (Extent{1, 2}));
  EXPECT_EQ(conv.groups, 2);
  EXPECT_FALSE(conv.bias);
  const auto& pad = std::get<Pad>(again->node(2).operation);
  EXPECT_EQ(pad.before, (Extent{1, 2}));
  EXPECT_EQ(pad.after, (Extent{3, 4}));
  EXPECT_EQ(std::get<BatchNorm>(again->node(3).operation).epsilon, 2e-3);
  EXPECT_EQ(std::get<BatchNorm>(again->node(3).operation).momentum, 0.25);
  EXPECT_EQ(std::get<GroupNorm>(again->node(4).operation).groups, 4);
  EXPECT_EQ(std::get<GroupNorm>(again->node(4).operation).epsilon, 3e-3);
  const auto& most = std::get<MaxPool>(again->node(5).operation);
  EXPECT_EQ(most.kernel, (Extent{2, 3}));
  EXPECT_EQ(most.stride, (Extent{2, 1}));
  EXPECT_EQ(most.padding, (Extent{1, 1}));
  EXPECT_TRUE(most.round_up);
  const auto& mean = std::get<AvgPool>(again->node(6).operation);
  EXPECT_TRUE(mean.round_up);
  EXPECT_FALSE(mean.count_padding);
  EXPECT_EQ(std::get<Dropout>(again->node(8).operation).rate, 0.125);
  EXPECT_EQ(std::get<Linear>(again->node(9).operation).out_features, 7);
  EXPECT_FALSE(std::get<Linear>(again->node(9).operation).bias);
}

TEST(GraphText, SaysWhatIsWrongAndWhere) {
  const auto message = [](const std::string& nodes) {
    const auto graph = ParseGraph(R"({"name":"n","input":"3x8x8","nodes":[)" + nodes + "]}");
    return graph.ok() ? std::string("fine") : graph.status().message();
  };
  const std::string end = R"(,{"name":"f","kind":"flatten"},{"name":"l","kind":"linear","out":2})";
  EXPECT_EQ(message(R"({"name":"c","kind":"conv","out":4,"kernel":[3,3]})" + end), "fine");
  EXPECT_EQ(message(R"({"name":"c","kind":"cnv"})" + end).substr(0, 59),
            "node 'c' of n: unknown kind of layer 'cnv'; did you mean 'c");
  EXPECT_EQ(message(R"({"name":"c","kind":"conv","out":4,"kernel":3})"),
            "node 'c' of n: kernel must be two whole numbers");
  EXPECT_EQ(message(R"({"name":"c","kind":"conv","out":4,"kernal":[3,3]})").substr(0, 66),
            "node 'c' of n: unknown field 'kernal'; did you mean 'kernel'? Know");
  EXPECT_EQ(message(R"({"name":"c","kind":"relu","inputs":[1]})"),
            "node 'c' of n: inputs must be a list of earlier nodes");
  EXPECT_EQ(message(R"({"name":"a b","kind":"relu"})"),
            "node 1 of n needs a name of letters, digits, '.', '_' and '-', found 'a b'");
  EXPECT_EQ(message(R"({"name":"c","kind":"conv","out":4,"kernel":[9,9]})" + end).substr(0, 49),
            "node 'c' (conv) of n: a window of 9x9 does not fi");
  EXPECT_EQ(
      message(
          R"({"name":"f","kind":"flatten"},{"name":"l","kind":"linear","out":9000000},{"name":"m","kind":"linear","out":2})"),
      "n has more than 4194304 channels and columns in all its layers together");
}

}  // namespace
}  // namespace tributary::inline model
