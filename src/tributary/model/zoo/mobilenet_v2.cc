// MobileNet-v2 (Sandler et al., 2018), width 1. Node names follow torchvision: features.N.conv.M.

#include "tributary/model/zoo/families.h"

namespace tributary::inline model::zoo {
namespace {

struct Stage {
  std::int64_t expansion, channels, blocks, stride;
};

constexpr Stage kStages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                             {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};

// Convolution, batch norm and, unless the block is linear, ReLU6.
NodeIndex ConvNorm(GraphBuilder& b, const std::string& conv, const std::string& norm, const std::string& relu,
                   NodeIndex x, Conv operation) {
  operation.bias = false;
  operation.padding = {operation.kernel.height / 2, operation.kernel.width / 2};
  x = b.Add(conv, operation, {x});
  x = b.Add(norm, BatchNorm{}, {x});
  return relu.empty() ? x : b.Add(relu, Relu6{}, {x});
}

NodeIndex InvertedResidual(GraphBuilder& b, const std::string& name, NodeIndex input, const Stage& stage,
                           std::int64_t stride) {
  const std::int64_t in = b.shape(input).channels;
  const std::int64_t hidden = in * stage.expansion;
  NodeIndex x = input;
  int module = 0;
  const auto activated = [&](Conv operation) {
    const std::string prefix = name + ".conv." + std::to_string(module++);
    x = ConvNorm(b, prefix + ".0", prefix + ".1", prefix + ".2", x, operation);
  };
  if (stage.expansion != 1) activated(Conv{.out_channels = hidden, .kernel = {1, 1}});
  activated(Conv{.out_channels = hidden, .kernel = {3, 3}, .stride = {stride, stride}, .groups = hidden});
  const std::string last = name + ".conv.";
  x = ConvNorm(b, last + std::to_string(module), last + std::to_string(module + 1), "", x,
               Conv{.out_channels = stage.channels, .kernel = {1, 1}});
  const bool residual = stride == 1 && in == stage.channels;
  return residual ? b.Add(name + ".add", Add{}, {input, x}) : x;
}

}  // namespace

StatusOr<Graph> MobileNetV2(const Shape& input, std::int64_t classes, bool cifar_form) {
  GraphBuilder b("mobilenet-v2", input);
  const std::int64_t stem_stride = cifar_form ? 1 : 2;
  NodeIndex x = ConvNorm(b, "features.0.0", "features.0.1", "features.0.2", 0,
                         Conv{.out_channels = 32, .kernel = {3, 3}, .stride = {stem_stride, stem_stride}});
  int feature = 1;
  for (const Stage& stage : kStages) {
    for (std::int64_t block = 0; block < stage.blocks; ++block) {
      const bool keeps_size = cifar_form && stage.channels == 24;
      const std::int64_t stride = block == 0 && !keeps_size ? stage.stride : 1;
      x = InvertedResidual(b, "features." + std::to_string(feature++), x, stage, stride);
    }
  }
  const std::string head = "features." + std::to_string(feature);
  x = ConvNorm(b, head + ".0", head + ".1", head + ".2", x, Conv{.out_channels = 1280, .kernel = {1, 1}});
  return WithHead(std::move(b), x, classes,
                  {.linear = "classifier.1", .dropout = "classifier.0", .rate = 0.2});
}

}  // namespace tributary::inline model::zoo
