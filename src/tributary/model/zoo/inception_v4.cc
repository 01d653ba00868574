// Inception-v4 (Szegedy et al., 2017). Node names follow the PyTorch port that published weights come in:
// features.N.branchM.K.conv. The form for small images starts at full resolution and pads where the other lets the
// borders go.

#include <vector>

#include "tributary/model/zoo/branch.h"
#include "tributary/model/zoo/families.h"

namespace tributary::zoo {
namespace {

struct Layer {
  std::int64_t channels;
  Extent kernel;
  std::int64_t stride = 1;
  bool same = true;  // padded so that the size stays
};

Conv OperationOf(const Layer& layer, bool small) {
  Conv conv{.out_channels = layer.channels, .kernel = layer.kernel, .stride = {layer.stride, layer.stride}};
  if (layer.same || small) conv.padding = {layer.kernel.height / 2, layer.kernel.width / 2};
  return conv;
}

// One block of the network: named parts of features.N.
class Block {
 public:
  Block(GraphBuilder& b, int number, NodeIndex input, bool small)
      : b_(b), name_("features." + std::to_string(number)), input_(input), small_(small) {}

  NodeIndex One(const std::string& part, NodeIndex from, const Layer& layer) {
    return ConvNormRelu(b_, name_ + "." + part, from, OperationOf(layer, small_));
  }
  // A branch of several layers from the block's input, or a single one without a number.
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

StatusOr<Graph> InceptionV4(const Shape& input, std::int64_t classes, bool cifar_form) {
  GraphBuilder b("inception-v4", input);
  NodeIndex x = Stem(b, 0, cifar_form);
  int number = 6;
  for (int i = 0; i < 4; ++i) x = InceptionA({b, number++, x, cifar_form});
  x = ReductionA({b, number++, x, cifar_form});
  for (int i = 0; i < 7; ++i) x = InceptionB({b, number++, x, cifar_form});
  x = ReductionB({b, number++, x, cifar_form});
  for (int i = 0; i < 3; ++i) x = InceptionC({b, number++, x, cifar_form});
  x = b.Add("avg_pool", GlobalAvgPool{}, {x});
  x = b.Add("flatten", Flatten{}, {x});
  b.Add("last_linear", Linear{classes}, {x});
  return std::move(b).Build();
}

}  // namespace tributary::zoo
