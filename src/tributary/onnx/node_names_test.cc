#include "tributary/onnx/node_names.h"

#include <gtest/gtest.h>

namespace tributary::inline onnx {
namespace {

OnnxNode Named(const char* name, const char* operation, const std::vector<const char*>& inputs = {"x"}) {
  OnnxNode node;
  node.set_name(name);
  node.set_op_type(operation);
  for (const char* input : inputs) node.add_input(input);
  return node;
}

std::vector<std::string> NamesOf(const std::vector<OnnxNode>& nodes) {
  OnnxGraph graph;
  graph.mutable_node()->Add(nodes.begin(), nodes.end());
  return NameOnnxNodes(graph);
}

// As PyTorch 1.13 names the nodes of torchvision's networks.
TEST(NodeNames, AreThoseOfPyTorchsModules) {
  const std::vector<OnnxNode> nodes = {
      Named("/conv1/Conv", "Conv", {"x", "onnx::Conv_193"}),
      Named("/layer1/layer1.0/conv1/Conv", "Conv", {"x", "onnx::Conv_196"}),
      Named("/layer1/layer1.0/bn1/BatchNormalization", "BatchNormalization", {"x", "layer1.0.bn1.weight"}),
      Named("/layer1/layer1.0/relu/Relu", "Relu"),
      Named("/layer1/layer1.0/Add", "Add"),
      Named("/layer1/layer1.0/relu_1/Relu", "Relu"),
      Named("/features/features.1/conv/conv.0/conv.0.2/Constant", "Constant"),
      Named("/features/features.1/conv/conv.0/conv.0.2/Clip", "Clip"),
      Named("/avgpool/GlobalAveragePool", "GlobalAveragePool"),
      Named("/Flatten", "Flatten"),
      Named("/fc/Gemm", "Gemm", {"x", "fc.weight", "fc.bias"})};
  EXPECT_EQ(NamesOf(nodes), (std::vector<std::string>{"conv1", "layer1.0.conv1", "layer1.0.bn1",
                                                      "layer1.0.relu", "layer1.0.add", "layer1.0.relu_1", "",
                                                      "features.1.conv.0.2", "avgpool", "flatten", "fc"}));
}

TEST(NodeNames, ArePlainAndDiffer) {
  const std::vector<OnnxNode> nodes = {Named("", "Relu"),   Named("model/dense 1/MatMul:0", "MatMul"),
                                       Named("a", "Relu"),  Named("a", "Relu"),
                                       Named("a", "Relu"),  Named("input", "Relu"),
                                       Named("a_2", "Relu")};
  EXPECT_EQ(NamesOf(nodes), (std::vector<std::string>{"relu0", "model_dense_1_MatMul_0", "a", "a_2", "a_3",
                                                      "input_2", "a_2_2"}));
  EXPECT_EQ(PlainLayerName(std::string(500, 'x')).size(), 120U);
}

}  // namespace
}  // namespace tributary::inline onnx
