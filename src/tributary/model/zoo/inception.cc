// The Inception networks.
//
// GoogLeNet (Szegedy et al., 2015) with batch norm and without auxiliary heads. Node names, and the 3×3
// convolutions in the third branch (5×5 in the paper), follow torchvision.
//
// Inception-v4 (Szegedy et al., 2017). Node names follow the PyTorch port of the published weights:
// features.N.branchM.K.conv. The form for small images starts at full resolution and pads all layers.

#include <vector>

#include "tributary/model/zoo/families.h"

namespace tributary::inline model::zoo {
namespace {

// Convolution without bias, batch norm and ReLU, with PyTorch's names NAME.conv and NAME.bn.
NodeIndex ConvNormRelu(GraphBuilder& b, const std::string& name, NodeIndex x, Conv operation) {
  operation.bias = false;
  x = b.Add(name + ".conv", operation, {x});
  x = b.Add(name + ".bn", BatchNorm{.epsilon = 0.001}, {x});
  return b.Add(name + ".relu", Relu{}, {x});
}

struct Widths {
  const char* name;
  std::int64_t one, three_reduce, three, five_reduce, five, pool;
};

NodeIndex Inception(GraphBuilder& b, const Widths& w, NodeIndex x) {
  const std::string name = w.name;
  const auto conv = [&](const std::string& branch, NodeIndex from, std::int64_t channels,
                        std::int64_t kernel) {
    return ConvNormRelu(
        b, name + "." + branch, from,
        Conv{.out_channels = channels, .kernel = {kernel, kernel}, .padding = {kernel / 2, kernel / 2}});
  };
  const NodeIndex branch1 = conv("branch1", x, w.one, 1);
  const NodeIndex branch2 = conv("branch2.1", conv("branch2.0", x, w.three_reduce, 1), w.three, 3);
  const NodeIndex branch3 = conv("branch3.1", conv("branch3.0", x, w.five_reduce, 1), w.five, 3);
  const NodeIndex pooled =
      b.Add(name + ".branch4.0",
            MaxPool{.kernel = {3, 3}, .stride = {1, 1}, .padding = {1, 1}, .round_up = true}, {x});
  const NodeIndex branch4 = conv("branch4.1", pooled, w.pool, 1);
  return b.Add(name + ".concat", Concat{}, {branch1, branch2, branch3, branch4});
}

NodeIndex Halve(GraphBuilder& b, const std::string& name, NodeIndex x, std::int64_t kernel) {
  return b.Add(name, MaxPool{.kernel = {kernel, kernel}, .stride = {2, 2}, .round_up = true}, {x});
}

struct Layer {
  std::int64_t channels;
  Extent kernel;
  std::int64_t stride = 1;
  bool same = true;  // padded to keep the size
};

Conv OperationOf(const Layer& layer, bool small) {
  Conv conv{.out_channels = layer.channels, .kernel = layer.kernel, .stride = {layer.stride, layer.stride}};
  if (layer.same || small) conv.padding = {layer.kernel.height / 2, layer.kernel.width / 2};
  return conv;
}

// One block: named parts of features.N.
class Block {
 public:
  Block(GraphBuilder& b, int number, NodeIndex input, bool small)
      : b_(b), name_("features." + std::to_string(number)), input_(input), small_(small) {}

  NodeIndex One(const std::string& part, NodeIndex from, const Layer& layer) {
    return ConvNormRelu(b_, name_ + "." + part, from, OperationOf(layer, small_));
  }
  // A branch of several layers from the block's input, or of a single layer without a number.
  NodeIndex Branch(const std::string& branch, const std::vector<Layer>& layers) {
    if (layers.size() == 1) return One(branch, input_, layers[0]);
    NodeIndex x = input_;
    for (std::size_t i = 0; i < layers.size(); ++i) x = One(branch + "." + std::to_string(i), x, layers[i]);
    return x;
  }
  NodeIndex Halved(const std::string& part) {
    const std::int64_t padding = small_ ? 1 : 0;
    return b_.Add(name_ + "." + part,
                  MaxPool{.kernel = {3, 3}, .stride = {2, 2}, .padding = {padding, padding}}, {input_});
  }
  NodeIndex Averaged(const std::string& branch, std::int64_t channels) {
    const NodeIndex mean = b_.Add(
        name_ + "." + branch + ".0",
        AvgPool{.kernel = {3, 3}, .stride = {1, 1}, .padding = {1, 1}, .count_padding = false}, {input_});
    return One(branch + ".1", mean, {channels, {1, 1}});
  }
  NodeIndex Join(const std::vector<NodeIndex>& branches) {
    return b_.Add(name_ + ".concat", Concat{}, branches);
  }

 private:
  GraphBuilder& b_;
  std::string name_;
  NodeIndex input_;
  bool small_;
};

constexpr Extent k1{1, 1}, k3{3, 3}, kWide{1, 7}, kTall{7, 1}, kWide3{1, 3}, kTall3{3, 1};

NodeIndex InceptionA(Block block) {
  return block.Join({block.Branch("branch0", {{96, k1}}), block.Branch("branch1", {{64, k1}, {96, k3}}),
                     block.Branch("branch2", {{64, k1}, {96, k3}, {96, k3}}), block.Averaged("branch3", 96)});
}

NodeIndex ReductionA(Block block) {
  return block.Join({block.Branch("branch0", {{384, k3, 2, false}}),
                     block.Branch("branch1", {{192, k1}, {224, k3}, {256, k3, 2, false}}),
                     block.Halved("branch2")});
}

NodeIndex InceptionB(Block block) {
  return block.Join(
      {block.Branch("branch0", {{384, k1}}), block.Branch("branch1", {{192, k1}, {224, kWide}, {256, kTall}}),
       block.Branch("branch2", {{192, k1}, {192, kTall}, {224, kWide}, {224, kTall}, {256, kWide}}),
       block.Averaged("branch3", 128)});
}

NodeIndex ReductionB(Block block) {
  return block.Join({block.Branch("branch0", {{192, k1}, {192, k3, 2, false}}),
                     block.Branch("branch1", {{256, k1}, {256, kWide}, {320, kTall}, {320, k3, 2, false}}),
                     block.Halved("branch2")});
}

NodeIndex InceptionC(Block block) {
  const NodeIndex branch0 = block.Branch("branch0", {{256, k1}});
  const NodeIndex branch1 = block.Branch("branch1_0", {{384, k1}});
  const NodeIndex branch1a = block.One("branch1_1a", branch1, {256, kWide3});
  const NodeIndex branch1b = block.One("branch1_1b", branch1, {256, kTall3});
  NodeIndex branch2 = block.Branch("branch2_0", {{384, k1}});
  branch2 = block.One("branch2_1", branch2, {448, kTall3});
  branch2 = block.One("branch2_2", branch2, {512, kWide3});
  const NodeIndex branch2a = block.One("branch2_3a", branch2, {256, kWide3});
  const NodeIndex branch2b = block.One("branch2_3b", branch2, {256, kTall3});
  return block.Join({branch0, branch1a, branch1b, branch2a, branch2b, block.Averaged("branch3", 256)});
}

NodeIndex Stem(GraphBuilder& b, NodeIndex x, bool small) {
  x = ConvNormRelu(b, "features.0", x, OperationOf({32, k3, small ? 1 : 2, false}, small));
  x = ConvNormRelu(b, "features.1", x, OperationOf({32, k3, 1, false}, small));
  x = ConvNormRelu(b, "features.2", x, OperationOf({64, k3}, small));
  Block mixed3(b, 3, x, small);
  x = mixed3.Join({mixed3.Halved("maxpool"), mixed3.Branch("conv", {{96, k3, 2, false}})});
  Block mixed4(b, 4, x, small);
  x = mixed4.Join({mixed4.Branch("branch0", {{64, k1}, {96, k3, 1, false}}),
                   mixed4.Branch("branch1", {{64, k1}, {64, kWide}, {64, kTall}, {96, k3, 1, false}})});
  Block mixed5(b, 5, x, small);
  return mixed5.Join({mixed5.Branch("conv", {{192, k3, 2, false}}), mixed5.Halved("maxpool")});
}

}  // namespace

StatusOr<Graph> GoogLeNet(const Shape& input, std::int64_t classes, bool cifar_form) {
  GraphBuilder b("googlenet", input);
  NodeIndex x = 0;
  if (cifar_form) {
    x = ConvNormRelu(b, "conv1", x, Conv{.out_channels = 64, .kernel = {3, 3}, .padding = {1, 1}});
  } else {
    x = ConvNormRelu(b, "conv1", x,
                     Conv{.out_channels = 64, .kernel = {7, 7}, .stride = {2, 2}, .padding = {3, 3}});
    x = Halve(b, "maxpool1", x, 3);
  }
  x = ConvNormRelu(b, "conv2", x, Conv{.out_channels = 64, .kernel = {1, 1}});
  x = ConvNormRelu(b, "conv3", x, Conv{.out_channels = 192, .kernel = {3, 3}, .padding = {1, 1}});
  if (!cifar_form) x = Halve(b, "maxpool2", x, 3);
  for (const Widths& w :
       {Widths{"inception3a", 64, 96, 128, 16, 32, 32}, {"inception3b", 128, 128, 192, 32, 96, 64}}) {
    x = Inception(b, w, x);
  }
  x = Halve(b, "maxpool3", x, 3);
  for (const Widths& w : {Widths{"inception4a", 192, 96, 208, 16, 48, 64},
                          {"inception4b", 160, 112, 224, 24, 64, 64},
                          {"inception4c", 128, 128, 256, 24, 64, 64},
                          {"inception4d", 112, 144, 288, 32, 64, 64},
                          {"inception4e", 256, 160, 320, 32, 128, 128}}) {
    x = Inception(b, w, x);
  }
  x = Halve(b, "maxpool4", x, 2);
  for (const Widths& w :
       {Widths{"inception5a", 256, 160, 320, 32, 128, 128}, {"inception5b", 384, 192, 384, 48, 128, 128}}) {
    x = Inception(b, w, x);
  }
  return WithHead(std::move(b), x, classes, {.rate = 0.2});
}

StatusOr<Graph> InceptionV4(const Shape& input, std::int64_t classes, bool cifar_form) {
  GraphBuilder b("inception-v4", input);
  NodeIndex x = Stem(b, 0, cifar_form);
  int number = 6;
  for (int i = 0; i < 4; ++i) x = InceptionA({b, number++, x, cifar_form});
  x = ReductionA({b, number++, x, cifar_form});
  for (int i = 0; i < 7; ++i) x = InceptionB({b, number++, x, cifar_form});
  x = ReductionB({b, number++, x, cifar_form});
  for (int i = 0; i < 3; ++i) x = InceptionC({b, number++, x, cifar_form});
  return WithHead(std::move(b), x, classes, {.pool = "avg_pool", .linear = "last_linear"});
}

}  // namespace tributary::inline model::zoo
