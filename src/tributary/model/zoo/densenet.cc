// DenseNet (Huang et al., 2017) for small images, growth 12: three blocks of plain layers, without the
// bottlenecks and compression of DenseNet-BC. Each layer reads all earlier layers of its block and adds 12
// channels. Node names follow torchvision; convolutions have no bias, and there is no dropout.

#include "tributary/base/check.h"
#include "tributary/model/zoo/families.h"

namespace tributary::inline model::zoo {
namespace {

constexpr std::int64_t kGrowth = 12;
constexpr std::int64_t kStemChannels = 16;
constexpr int kBlocks = 3;

NodeIndex NormRelu(GraphBuilder& b, const std::string& norm, const std::string& relu, NodeIndex x) {
  return b.Add(relu, Relu{}, {b.Add(norm, BatchNorm{}, {x})});
}

NodeIndex DenseLayer(GraphBuilder& b, const std::string& name, NodeIndex input) {
  NodeIndex x = NormRelu(b, name + ".norm1", name + ".relu1", input);
  x = b.Add(name + ".conv1",
            Conv{.out_channels = kGrowth, .kernel = {3, 3}, .padding = {1, 1}, .bias = false}, {x});
  return b.Add(name + ".concat", Concat{}, {input, x});
}

// Halves height and width and keeps the number of channels.
NodeIndex Transition(GraphBuilder& b, const std::string& name, NodeIndex x) {
  const std::int64_t channels = b.shape(x).channels;
  x = NormRelu(b, name + ".norm", name + ".relu", x);
  x = b.Add(name + ".conv", Conv{.out_channels = channels, .kernel = {1, 1}, .bias = false}, {x});
  return b.Add(name + ".pool", AvgPool{.kernel = {2, 2}, .stride = {2, 2}}, {x});
}

}  // namespace

StatusOr<Graph> DenseNet(int depth, const Shape& input, std::int64_t classes, bool) {
  // Layers outside the blocks: the stem, two transitions and the linear layer.
  TRIBUTARY_CHECK(depth > 4 && (depth - 4) % kBlocks == 0);
  const int layers = (depth - 4) / kBlocks;
  GraphBuilder b("densenet-" + std::to_string(depth), input);
  NodeIndex x =
      b.Add("features.conv0",
            Conv{.out_channels = kStemChannels, .kernel = {3, 3}, .padding = {1, 1}, .bias = false}, {0});
  for (int block = 1; block <= kBlocks; ++block) {
    const std::string number = std::to_string(block);
    for (int layer = 1; layer <= layers; ++layer)
      x = DenseLayer(b, "features.denseblock" + number + ".denselayer" + std::to_string(layer), x);
    if (block < kBlocks) x = Transition(b, "features.transition" + number, x);
  }
  x = NormRelu(b, "features.norm_final", "relu", x);
  return WithHead(std::move(b), x, classes, {.linear = "classifier"});
}

}  // namespace tributary::inline model::zoo
