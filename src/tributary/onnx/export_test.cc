
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "tributary/base/flat_buffer.h"
#include "tributary/model/graph_text.h"
#include "tributary/model/initialise.h"
#include "tributary/model/zoo.h"
#include "tributary/onnx/network_file.h"

namespace tributary::inline onnx {
namespace {

void ExpectTheSameAfterwards(Graph graph) {
  const Model model(std::move(graph));
  FlatBuffer parameters(model.parameters.size), statistics(model.statistics.size);
  InitialiseWeights(model, 5, parameters.span(), statistics.span());
  const auto path =
      std::filesystem::path(::testing::TempDir()) / ("export_" + std::to_string(::getpid()) + ".onnx");
  ASSERT_TRUE(WriteOnnx(path, model, parameters.span(), statistics.span(), {{"key", "value"}}).ok());
  const auto network = ReadOnnxNetwork(path, {model.graph.name(), {}});
  std::filesystem::remove(path);
  ASSERT_TRUE(network.ok()) << network.status();
  EXPECT_EQ(FormatGraph(network->graph), FormatGraph(model.graph));
  EXPECT_TRUE(std::ranges::equal(network->parameters.span(), parameters.span()));
  EXPECT_TRUE(std::ranges::equal(network->statistics.span(), statistics.span()));
  EXPECT_EQ(network->metadata.at("key"), "value");
}

TEST(OnnxExport, IsImportedAsTheSameNetwork) {
  for (const char* name : {"mlp", "har-cnn", "lenet5", "cnn", "resnet8", "densenet-40", "mobilenet-v2",
                           "googlenet", "resnet50"}) {
    SCOPED_TRACE(name);
    ExpectTheSameAfterwards(BuildZooGraph({name}).value());
  }
}

TEST(OnnxExport, KeepsEveryKindOfNode) {
  GraphBuilder b("all", Shape{4, 20, 20});
  const NodeIndex c = b.Add("scores", Conv{8, {3, 5}, {2, 1}, {1, 2}, {1, 2}, 2, false}, {0});
  NodeIndex x = b.Add("p", Pad{{1, 2}, {3, 4}}, {c});
  x = b.Add("n", BatchNorm{2e-3, 0.25}, {x});
  x = b.Add("g", GroupNorm{4, 3e-3}, {x});
  x = b.Add("r", Relu6{}, {x});
  x = b.Add("m", MaxPool{{2, 3}, {2, 1}, {1, 1}, true}, {x});
  const NodeIndex a = b.Add("a", AvgPool{{3, 3}, {1, 1}, {1, 1}, false, false}, {x});
  x = b.Add("s", Add{}, {x, a, a});
  x = b.Add("j", Concat{}, {x, a});
  x = b.Add("f", Flatten{}, {x});
  x = b.Add("d", Dropout{0.125}, {x});
  b.Add("l", Linear{7, false}, {x});
  ExpectTheSameAfterwards(std::move(b).Build().value());
}

}  // namespace
}  // namespace tributary::inline onnx
