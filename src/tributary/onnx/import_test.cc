#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "tributary/model/model.h"
#include "tributary/onnx/network_file.h"
#include "tributary/onnx/testing_onnx.h"

namespace tributary::inline onnx {
namespace {

using A = TestOnnx::Attributes;

std::vector<float> Tensor(const OnnxNetwork& network, const std::string& name) {
  const Model model(network.graph);
  for (const auto& [layout, memory] : {std::pair(&model.parameters, &network.parameters),
                                       std::pair(&model.statistics, &network.statistics)}) {
    for (const Layout::Slot& slot : layout->slots) {
      if (slot.name != name) continue;
      const auto values = memory->span().subspan(slot.segment.offset, slot.segment.count);
      return {values.begin(), values.end()};
    }
  }
  return {};
}

std::string Kinds(const Graph& graph) {
  std::string text;
  for (const Node& node : graph.nodes())
    text += (text.empty() ? "" : " ") + std::string(KindName(node.operation));
  return text;
}

// A convolution with its norm, a shortcut around a second one, pooling and a classifier, as PyTorch writes them.
TestOnnx Branching() {
  TestOnnx onnx;
  onnx.Input("x", {0, 2, 6, 6}).Output("scores");
  onnx.Counted("conv1.weight", {4, 2, 3, 3}).Counted("bn1.weight", {4}).Counted("bn1.bias", {4});
  onnx.Weights("bn1.running_mean", {4}, {1, 2, 3, 4}).Weights("bn1.running_var", {4}, {5, 6, 7, 8});
  onnx.Counted("conv2.weight", {4, 1, 3, 3}).Counted("conv2.bias", {4});
  onnx.Counted("fc.weight", {3, 4}).Counted("fc.bias", {3});
  onnx.Node("/conv1/Conv", "Conv", {"x", "conv1.weight"}, "a",
            A().Integers("kernel_shape", {3, 3}).Integers("pads", {1, 1, 1, 1}).Integers("strides", {2, 2}));
  onnx.Node("/bn1/B", "BatchNormalization",
            {"a", "bn1.weight", "bn1.bias", "bn1.running_mean", "bn1.running_var"}, "b",
            A().Real("epsilon", 1e-3F).Real("momentum", 0.9F));
  onnx.Node("/relu/Relu", "Relu", {"b"}, "c");
  onnx.Node("/conv2/Conv", "Conv", {"c", "conv2.weight", "conv2.bias"}, "d",
            A().Integers("pads", {1, 1, 1, 1}).Integer("group", 4));
  onnx.Node("/Add", "Add", {"c", "d"}, "e");
  onnx.Node("/pool/GlobalAveragePool", "GlobalAveragePool", {"e"}, "f");
  onnx.Node("/Flatten", "Flatten", {"f"}, "g");
  onnx.Node("/fc/Gemm", "Gemm", {"g", "fc.weight", "fc.bias"}, "h", A().Integer("transB", 1));
  onnx.Node("/Softmax", "Softmax", {"h"}, "scores", A().Integer("axis", 1));
  return onnx;
}

TEST(OnnxImport, MapsABranchingNetworkWithItsWeights) {
  const auto network = Branching().Import();
  ASSERT_TRUE(network.ok()) << network.status();
  const Graph& graph = network->graph;
  EXPECT_EQ(graph.name(), "net");
  EXPECT_EQ(graph.input_shape(), (Shape{2, 6, 6}));
  EXPECT_EQ(Kinds(graph), "input conv batch-norm relu conv add global-avg-pool flatten linear");
  EXPECT_EQ(graph.node(5).name, "add");
  EXPECT_EQ(graph.node(5).inputs, (std::vector<NodeIndex>{3, 4}));
  const auto& first = std::get<Conv>(graph.node(1).operation);
  EXPECT_FALSE(first.bias);
  EXPECT_EQ(first.stride, (Extent{2, 2}));
  EXPECT_EQ(first.padding, (Extent{1, 1}));
  EXPECT_EQ(std::get<Conv>(graph.node(4).operation).groups, 4);
  EXPECT_EQ(std::get<BatchNorm>(graph.node(2).operation).epsilon, 1e-3);
  EXPECT_EQ(std::get<BatchNorm>(graph.node(2).operation).momentum, 0.1);
  EXPECT_EQ(Tensor(*network, "conv1.weight")[71], 71);
  EXPECT_EQ(Tensor(*network, "bn1.running_mean"), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(Tensor(*network, "bn1.running_var"), (std::vector<float>{5, 6, 7, 8}));
  EXPECT_EQ(Tensor(*network, "fc.weight")[11], 11);
  EXPECT_EQ(Tensor(*network, "fc.bias"), (std::vector<float>{0, 1, 2}));
  ASSERT_EQ(network->notes.size(), 1U);
}

// Channels last at the input, biases added behind, a transposition before the flattening: as tf2onnx writes Keras.
TEST(OnnxImport, UnderstandsChannelsLast) {
  TestOnnx onnx;
  onnx.Input("x", {0, 4, 4, 1}).Output("y").Integers("shape", {-1, 8});
  onnx.Weights("w", {2, 1, 3, 3}, std::vector<float>(18, 1))
      .Weights("b", {2, 1, 1}, {5, 6})
      .Counted("dense", {8, 3})
      .Counted("db", {3});
  onnx.Node("t", "Transpose", {"x"}, "x1", A().Integers("perm", {0, 3, 1, 2}));
  onnx.Node("conv", "Conv", {"x1", "w"}, "c");
  onnx.Node("bias", "Add", {"c", "b"}, "c1");
  onnx.Node("relu", "Relu", {"c1"}, "r");
  onnx.Node("t2", "Transpose", {"r"}, "r1", A().Integers("perm", {0, 2, 3, 1}));
  onnx.Node("flat", "Reshape", {"r1", "shape"}, "f");
  onnx.Node("dense", "MatMul", {"f", "dense"}, "d");
  onnx.Node("dense_bias", "Add", {"d", "db"}, "y");
  const auto network = onnx.Import();
  ASSERT_TRUE(network.ok()) << network.status();
  EXPECT_EQ(network->graph.input_shape(), (Shape{1, 4, 4}));
  EXPECT_EQ(Kinds(network->graph), "input conv relu flatten linear");
  EXPECT_EQ(Tensor(*network, "conv.bias"), (std::vector<float>{5, 6}));
  EXPECT_EQ(Tensor(*network, "dense.bias"), (std::vector<float>{0, 1, 2}));
  // Row r of the file's 8 × 3 is place r / 2, channel r % 2; of ours, channel first: column channel · 4 + place.
  const std::vector<float> weight = Tensor(*network, "dense.weight");
  for (int out = 0; out < 3; ++out) {
    for (int place = 0; place < 4; ++place) {
      for (int channel = 0; channel < 2; ++channel) {
        EXPECT_EQ(weight[static_cast<std::size_t>(out * 8 + channel * 4 + place)],
                  static_cast<float>((place * 2 + channel) * 3 + out));
      }
    }
  }
}

// x.view(x.size(0), -1), a scaled Gemm that is not transposed, an average over height and width, Identity, Constant.
TEST(OnnxImport, UnderstandsWhatExportersWriteAround) {
  TestOnnx onnx;
  onnx.Input("x", {0, 3, 2, 2})
      .Input("w", {12, 2})
      .Output("y")
      .Counted("w", {12, 2})
      .Weights("b", {1}, {4})
      .Integers("zero", {0})
      .Integers("rest", {-1});
  onnx.Node("", "Shape", {"x"}, "s");
  onnx.Node("", "Gather", {"s", "zero"}, "n", A().Integer("axis", 0));
  onnx.Node("", "Unsqueeze", {"n", "zero"}, "n1");
  onnx.Node("", "Concat", {"n1", "rest"}, "shape", A().Integer("axis", 0));
  onnx.Node("", "Reshape", {"x", "shape"}, "f");
  onnx.Node("", "Dropout", {"f"}, "d", A().Real("ratio", 0.2F));
  onnx.Node("", "Identity", {"w"}, "w1");
  onnx.Node("head", "Gemm", {"d", "w1", "b"}, "y", A().Real("alpha", 2).Real("beta", 0.5F));
  const auto network = onnx.Import({}, 12);
  ASSERT_TRUE(network.ok()) << network.status();
  EXPECT_EQ(Kinds(network->graph), "input flatten dropout linear");
  EXPECT_EQ(std::get<Dropout>(network->graph.node(2).operation).rate, 0.2);
  EXPECT_EQ(network->graph.name(), "network");
  const std::vector<float> weight = Tensor(*network, "head.weight");
  EXPECT_EQ(weight[0], 0);
  EXPECT_EQ(weight[1], 4);   // row 1, column 0 of the file is 2; twice that
  EXPECT_EQ(weight[12], 2);  // row 0, column 1
  EXPECT_EQ(Tensor(*network, "head.bias"), (std::vector<float>{2, 2}));
}

TEST(OnnxImport, PadsUnevenly) {
  TestOnnx onnx;
  onnx.Input("x", {1, 1, 8, 8})
      .Output("y")
      .Counted("w", {2, 1, 3, 3})
      .Counted("d", {8, 2})
      .Integers("pads", {0, 0, 1, 0, 0, 0, 0, 2});
  onnx.Node("border", "Pad", {"x", "pads"}, "p");
  onnx.Node("conv", "Conv", {"p", "w"}, "c", A().Text("auto_pad", "SAME_UPPER").Integers("strides", {2, 2}));
  onnx.Node("pool", "MaxPool", {"c"}, "m",
            A().Integers("kernel_shape", {3, 3}).Integers("strides", {2, 2}).Integers("pads", {0, 0, 1, 1}));
  onnx.Node("flat", "Flatten", {"m"}, "f");
  onnx.Node("dense", "MatMul", {"f", "d"}, "y");
  const auto network = onnx.Import();
  ASSERT_TRUE(network.ok()) << network.status();
  EXPECT_EQ(Kinds(network->graph), "input pad pad conv max-pool flatten linear");
  EXPECT_EQ(network->graph.shape(1), (Shape{1, 9, 10}));
  // Nine high needs one on each side, ten wide one at the end alone.
  EXPECT_EQ(network->graph.shape(2), (Shape{1, 11, 11}));
  EXPECT_EQ(network->graph.shape(3), (Shape{2, 5, 5}));
  EXPECT_TRUE(std::get<MaxPool>(network->graph.node(4).operation).round_up);
  EXPECT_EQ(network->graph.shape(4), (Shape{2, 2, 2}));
}

TEST(OnnxImport, ReadsWeightsOfASecondFileInItsFolderOnly) {
  const auto folder = std::filesystem::path(::testing::TempDir()) / ("onnx_" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  const std::vector<float> values = {9, 1, 2, 3, 4, 5, 6, 7, 8};
  std::ofstream(folder / "net.data", std::ios::binary)
      .write(reinterpret_cast<const char*>(values.data()), 36);
  const auto import = [&](const std::string& location, const std::string& offset,
                          const std::optional<std::filesystem::path>& where) {
    TestOnnx onnx;
    onnx.Input("x", {1, 4}).Output("y").External("w", {4, 2}, location, offset, "32");
    onnx.Node("dense", "MatMul", {"x", "w"}, "y");
    return onnx.Import({}, 13, where);
  };
  const auto network = import("net.data", "4", folder);
  ASSERT_TRUE(network.ok()) << network.status();
  EXPECT_EQ(Tensor(*network, "dense.weight"), (std::vector<float>{1, 3, 5, 7, 2, 4, 6, 8}));
  EXPECT_EQ(import("net.data", "8", folder).status().message(),
            "node 'dense' (MatMul): tensor 'w' lies in 'net.data' at offset '8' and length '32', and the "
            "file has 36 bytes");
  EXPECT_NE(import("../net.data", "4", folder).status().message().find("without '..'"), std::string::npos);
  EXPECT_NE(import("/etc/passwd", "4", folder).status().message().find("without '..'"), std::string::npos);
  EXPECT_NE(import("net.data", "4", {}).status().message().find("no other file may be read"),
            std::string::npos);
  EXPECT_NE(import("other", "4", folder).status().message().find("lies in a second file: "),
            std::string::npos);
  std::filesystem::remove_all(folder);
}

TEST(OnnxImport, NamesNodeAndAttributeOfWhatItRefuses) {
  const auto one = [](const std::string& operation, A attributes = {},
                      std::vector<std::string> inputs = {"x"}) {
    TestOnnx onnx;
    onnx.Input("x", {1, 2, 6, 6})
        .Output("y")
        .Counted("w", {2, 2, 3, 3})
        .Counted("v", {2})
        .Weights("one", {}, {1});
    onnx.Node("n", operation, inputs, "z", std::move(attributes));
    onnx.Node("f", "Flatten", {"z"}, "y");
    return onnx.Error();
  };
  EXPECT_EQ(one("Relu"), "fine");
  EXPECT_EQ(
      one("Sigmoid").substr(0, 96),
      "node 'n' (Sigmoid): not one of the operators that can be imported: Add, AveragePool, BatchNormal");
  EXPECT_EQ(one("Conv", {}, {"x", "v"}),
            "node 'n' (Conv): its weight has the shape [2]; allowed: convolutions of images and signals, "
            "with 4 or 3 sides");
  EXPECT_EQ(one("Conv", A().Integer("group", 2), {"x", "w"}),
            "node 'n' (Conv): its weight of shape [2, 2, 3, 3] does not fit 2 input channels in 2 groups");
  EXPECT_EQ(one("Conv", A().Text("auto_pad", "EVEN"), {"x", "w"}),
            "node 'n' (Conv): auto_pad is EVEN; allowed: NOTSET, VALID, SAME_UPPER, SAME_LOWER");
  EXPECT_EQ(one("Conv", {}, {"x", "x"}),
            "node 'n' (Conv): its weight must be a constant of the file, and is computed");
  EXPECT_EQ(one("Conv", {}, {"x"}),
            "node 'n' (Conv): its weight must be a constant of the file, and is missing");
  EXPECT_EQ(one("Conv", {}, {"u", "w"}), "node 'n' (Conv): reads 'u', which no node before it gives");
  EXPECT_EQ(one("MaxPool", A().Integers("kernel_shape", {3, 3}).Integers("pads", {1, 0, 0, 0})),
            "node 'n' (MaxPool): pads is not the same on both sides; allowed: the same on both sides, or "
            "less than a stride at the end alone");
  EXPECT_EQ(one("MaxPool", A().Integers("kernel_shape", {3, 3}).Integers("dilations", {2, 2})),
            "node 'n' (MaxPool): dilations is more than 1; allowed: 1");
  EXPECT_EQ(one("MaxPool", A().Integers("kernel_shape", {9, 9})).substr(0, 60),
            "node 'n' (max-pool) of net: a window of 9x9 does not fit int");
  EXPECT_EQ(one("Clip", {}, {"x", "one"}),
            "node 'n' (Clip): keeps values between 1 and 3.40282e+38; allowed: 0 and 6 (ReLU6), or 0 and no "
            "upper bound (ReLU)");
  EXPECT_EQ(one("Add", {}, {"x", "v"}),
            "node 'n' (Add): adds a constant; allowed: one value per channel, directly after a Conv, Gemm "
            "or MatMul without bias");
  EXPECT_EQ(one("Concat", A().Integer("axis", 2), {"x", "x"}),
            "node 'n' (Concat): axis is 2; allowed: 1, the channels");
  EXPECT_EQ(one("Transpose", A().Integers("perm", {0, 1, 3, 2})),
            "node 'n' (Transpose): perm is [0, 1, 3, 2]; allowed: [0, 3, 1, 2] and [0, 2, 3, 1], between "
            "channels last and channels first");
  EXPECT_EQ(one("BatchNormalization", {}, {"x", "v", "v", "v", "w"}),
            "node 'n' (BatchNormalization): its variance has the shape [2, 2, 3, 3]; expected 2 values");
  EXPECT_EQ(one("Softmax").substr(0, 36), "node 'n' (Softmax): is not at the en");
}

TEST(OnnxImport, NamesWhatIsWrongWithTheWhole) {
  TestOnnx two;
  two.Input("x", {1, 2}).Input("z", {1, 2}).Output("y");
  EXPECT_EQ(two.Error(), "it has 2 inputs: 'x', 'z'; allowed: one, the samples");
  TestOnnx heads;
  heads.Input("x", {1, 2}).Output("y").Output("aux");
  EXPECT_EQ(heads.Error().substr(0, 34), "it has 2 outputs: 'y', 'aux'; allo");
  TestOnnx open;
  open.Input("x", {1, 2, 0, 0})
      .Output("y")
      .Counted("w", {8, 2})
      .Node("f", "Flatten", {"x"}, "f")
      .Node("d", "MatMul", {"f", "w"}, "y");
  EXPECT_EQ(open.Error(),
            "its input 'x' has the shape [1, 2, ?, ?], which leaves the shape of a sample open; give it with "
            "--input CxHxW");
  EXPECT_EQ(open.Error({"net", Shape{2, 2, 2}}), "fine");
  EXPECT_EQ(open.Error({"net", Shape{3, 2, 2}}),
            "its input 'x' has the shape [1, 2, ?, ?], which samples of 3x2x2 do not fit");
  EXPECT_EQ(open.Error({"net", Shape{2, 3, 2}}),
            "node 'd' (MatMul): its weight of shape [8, 2] does not fit its input 12");
  TestOnnx half;
  half.Input("x", {1, 2}).Output("y").Raw("w", {2, 1}, 10, "abcd").Node("d", "MatMul", {"x", "w"}, "y");
  EXPECT_EQ(half.Error(),
            "node 'd' (MatMul): tensor 'w' is of float16; weights must be float or double: export the "
            "network in float32");
  TestOnnx few;
  few.Input("x", {1, 2}).Output("y").Raw("w", {2, 1}, 1, "abcd").Node("d", "MatMul", {"x", "w"}, "y");
  EXPECT_EQ(few.Error(), "node 'd' (MatMul): tensor 'w' has 4 bytes, and its shape [2, 1] of float takes 8");
  const std::string garbage = "not an ONNX file";
  EXPECT_FALSE(ImportOnnx(std::as_bytes(std::span(garbage)), {}).ok());
  EXPECT_EQ(ImportOnnx({}, {}).status().message(), "it has no graph (is this an ONNX file?)");
  const std::string old = Branching().Bytes(6);
  EXPECT_EQ(ImportOnnx(std::as_bytes(std::span(old)), {}).status().message().substr(0, 23),
            "it is of operator set 6");
  EXPECT_EQ(ReadOnnxNetwork("/nowhere/net.onnx").status().code(), StatusCode::kNotFound);
}

// Wherever a file is cut off, and whichever byte of it is changed, there is a network or a reason.
TEST(OnnxImport, SurvivesDamage) {
  const std::string whole = Branching().Bytes();
  int refused = 0;
  constexpr std::size_t kBehindTheGraph = 6;  // the operator set, without which it is a network
  for (std::size_t length = 0; length + kBehindTheGraph < whole.size(); length += 3) {
    const auto network = ImportOnnx(std::as_bytes(std::span(whole)).first(length), {});
    EXPECT_FALSE(network.ok());
  }
  for (std::size_t at = 0; at < whole.size(); at += 2) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x15);
    const auto network = ImportOnnx(std::as_bytes(std::span(changed)), {});
    if (!network.ok()) {
      ++refused;
      EXPECT_FALSE(network.status().message().empty());
    }
  }
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace tributary::inline onnx
