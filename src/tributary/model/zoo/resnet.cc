// ResNet (He et al., 2016). 18, 34, 50 and 152 are the ImageNet networks with four stages; 8 and 20 are the
// CIFAR networks with three stages of 16, 32 and 64 channels and 1×1 convolutions as shortcuts where the
// shape changes. As in torchvision, a bottleneck's 3×3 convolution has the stride. Node names: torchvision.

#include <vector>

#include "tributary/base/check.h"
#include "tributary/model/zoo/families.h"

namespace tributary::inline model::zoo {
namespace {

struct Design {
  std::vector<int> blocks;  // per stage
  std::int64_t width;       // of the first stage; doubles with each
  bool bottleneck;
};

Design DesignOf(int depth) {
  switch (depth) {
    case 8:
      return {{1, 1, 1}, 16, false};
    case 20:
      return {{3, 3, 3}, 16, false};
    case 18:
      return {{2, 2, 2, 2}, 64, false};
    case 34:
      return {{3, 4, 6, 3}, 64, false};
    case 50:
      return {{3, 4, 6, 3}, 64, true};
    case 152:
      return {{3, 8, 36, 3}, 64, true};
    default:
      TRIBUTARY_CHECK(false);
      return {};
  }
}

// A convolution without bias and its batch norm. `padding` keeps the size at stride 1.
NodeIndex ConvNorm(GraphBuilder& b, const std::string& conv, const std::string& norm, NodeIndex x,
                   std::int64_t channels, std::int64_t kernel, std::int64_t stride) {
  const std::int64_t padding = kernel / 2;
  x = b.Add(conv,
            Conv{.out_channels = channels,
                 .kernel = {kernel, kernel},
                 .stride = {stride, stride},
                 .padding = {padding, padding},
                 .bias = false},
            {x});
  return b.Add(norm, BatchNorm{}, {x});
}

NodeIndex Block(GraphBuilder& b, const std::string& name, NodeIndex input, std::int64_t width,
                std::int64_t stride, bool bottleneck) {
  const std::int64_t out = bottleneck ? 4 * width : width;
  NodeIndex x = input;
  if (bottleneck) {
    x = ConvNorm(b, name + ".conv1", name + ".bn1", x, width, 1, 1);
    x = b.Add(name + ".relu1", Relu{}, {x});
    x = ConvNorm(b, name + ".conv2", name + ".bn2", x, width, 3, stride);
    x = b.Add(name + ".relu2", Relu{}, {x});
    x = ConvNorm(b, name + ".conv3", name + ".bn3", x, out, 1, 1);
  } else {
    x = ConvNorm(b, name + ".conv1", name + ".bn1", x, width, 3, stride);
    x = b.Add(name + ".relu1", Relu{}, {x});
    x = ConvNorm(b, name + ".conv2", name + ".bn2", x, width, 3, 1);
  }
  NodeIndex shortcut = input;
  if (stride != 1 || b.shape(input).channels != out)
    shortcut = ConvNorm(b, name + ".downsample.0", name + ".downsample.1", input, out, 1, stride);
  x = b.Add(name + ".add", Add{}, {x, shortcut});
  return b.Add(name + ".relu", Relu{}, {x});
}

}  // namespace

StatusOr<Graph> ResNet(int depth, const Shape& input, std::int64_t classes, bool cifar_form) {
  const Design design = DesignOf(depth);
  GraphBuilder b("resnet" + std::to_string(depth), input);
  NodeIndex x = cifar_form ? ConvNorm(b, "conv1", "bn1", 0, design.width, 3, 1)
                           : ConvNorm(b, "conv1", "bn1", 0, design.width, 7, 2);
  x = b.Add("relu", Relu{}, {x});
  if (!cifar_form) x = b.Add("maxpool", MaxPool{{3, 3}, {2, 2}, {1, 1}}, {x});
  std::int64_t width = design.width;
  for (std::size_t stage = 0; stage < design.blocks.size(); ++stage, width *= 2) {
    for (int block = 0; block < design.blocks[stage]; ++block) {
      const std::string name = "layer" + std::to_string(stage + 1) + "." + std::to_string(block);
      x = Block(b, name, x, width, stage > 0 && block == 0 ? 2 : 1, design.bottleneck);
    }
  }
  return WithHead(std::move(b), x, classes, {});
}

}  // namespace tributary::inline model::zoo
