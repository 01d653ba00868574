#include "tributary/model/cut_names.h"

#include <gtest/gtest.h>

#include "tributary/model/cut_points.h"
#include "tributary/model/zoo.h"

namespace tributary {
namespace {

Graph ZooGraph(const std::string& name) {
  auto graph = BuildZooGraph({name, Shape{3, 32, 32}, {}, Stem::kAuto});
  TRIBUTARY_CHECK(graph.ok());
  return std::move(graph).value();
}

std::string ErrorFor(const Graph& graph, std::string_view layer) {
  const auto cut = FindCut(graph, CutPoints(graph), layer);
  return cut.ok() ? "no error" : cut.status().message();
}

TEST(FindCut, FindsEveryCutByItsName) {
  for (const char* name : {"resnet8", "googlenet", "vgg11", "densenet-40"}) {
    const Graph graph = ZooGraph(name);
    const std::vector<bool> cuts = CutPoints(graph);
    for (NodeIndex i = 0; i < graph.size(); ++i) {
      const auto found = FindCut(graph, cuts, graph.node(i).name);
      EXPECT_EQ(found.ok(), cuts[i]);
      if (found.ok()) {
        EXPECT_EQ(*found, i);
      }
    }
  }
}

TEST(FindCut, NamesTheValidCuts) {
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

TEST(FindCut, NamesTheNearestWhereThereAreMany) {
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

TEST(FindCut, SaysSoWhereThereIsNoCut) {
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

}  // namespace
}  // namespace tributary
