// The three small chains: a perceptron, LeNet-5 and a plain CNN, all without norms, so that a batch may be split over
// devices without changing the result.

#include "tributary/model/zoo/families.h"

namespace tributary::zoo {
namespace {

constexpr MaxPool kHalve{{2, 2}, {2, 2}};

}  // namespace

StatusOr<Graph> Perceptron(const Shape& input, std::int64_t classes) {
  GraphBuilder b("mlp", input);
  NodeIndex x = b.Add("flatten", Flatten{}, {0});
  x = b.Add("fc1", Linear{128}, {x});
  x = b.Add("relu", Relu{}, {x});
  b.Add("fc2", Linear{classes}, {x});
  return std::move(b).Build();
}

StatusOr<Graph> LeNet5(const Shape& input, std::int64_t classes) {
  GraphBuilder b("lenet5", input);
  // LeCun's images are 32 pixels wide; 28-pixel digits are padded to that.
  const std::int64_t padding = input.height < 32 ? 2 : 0;
  NodeIndex x = b.Add("conv1", Conv{.out_channels = 6, .kernel = {5, 5}, .padding = {padding, padding}}, {0});
  x = b.Add("relu1", Relu{}, {x});
  x = b.Add("pool1", kHalve, {x});
  x = b.Add("conv2", Conv{.out_channels = 16, .kernel = {5, 5}}, {x});
  x = b.Add("relu2", Relu{}, {x});
  x = b.Add("pool2", kHalve, {x});
  x = b.Add("flatten", Flatten{}, {x});
  x = b.Add("fc1", Linear{120}, {x});
  x = b.Add("relu3", Relu{}, {x});
  x = b.Add("fc2", Linear{84}, {x});
  x = b.Add("relu4", Relu{}, {x});
  b.Add("fc3", Linear{classes}, {x});
  return std::move(b).Build();
}

StatusOr<Graph> SmallCnn(const Shape& input, std::int64_t classes) {
  GraphBuilder b("cnn", input);
  NodeIndex x = b.Add("conv1", Conv{.out_channels = 32, .kernel = {3, 3}, .padding = {1, 1}}, {0});
  x = b.Add("relu1", Relu{}, {x});
  x = b.Add("pool1", kHalve, {x});
  x = b.Add("conv2", Conv{.out_channels = 64, .kernel = {3, 3}, .padding = {1, 1}}, {x});
  x = b.Add("relu2", Relu{}, {x});
  x = b.Add("pool2", kHalve, {x});
  x = b.Add("flatten", Flatten{}, {x});
  x = b.Add("fc1", Linear{128}, {x});
  x = b.Add("relu3", Relu{}, {x});
  b.Add("fc2", Linear{classes}, {x});
  return std::move(b).Build();
}

}  // namespace tributary::zoo
