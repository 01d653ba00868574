// Small sequential networks: a perceptron, LeNet-5 and a CNN for images without norms, so that dividing a
// batch among devices changes nothing, and a CNN for signals of C x 1 x T, convolved along time.

#include "tributary/model/zoo/families.h"

namespace tributary::inline model::zoo {
namespace {

constexpr MaxPool kHalve{{2, 2}, {2, 2}};

NodeIndex SignalBlock(GraphBuilder& b, const std::string& number, std::int64_t channels, std::int64_t kernel,
                      NodeIndex x) {
  x = b.Add("conv" + number,
            Conv{.out_channels = channels, .kernel = {1, kernel}, .padding = {0, kernel / 2}, .bias = false},
            {x});
  // Group norm, because each device sees one person and slow streams have small batches: the statistics of a
  // batch would reflect the person, not the network.
  x = b.Add("norm" + number, GroupNorm{8}, {x});
  x = b.Add("relu" + number, Relu{}, {x});
  return b.Add("pool" + number, MaxPool{{1, 2}, {1, 2}}, {x});
}

}  // namespace

StatusOr<Graph> Perceptron(const Shape& input, std::int64_t classes, bool) {
  GraphBuilder b("mlp", input);
  NodeIndex x = b.Add("flatten", Flatten{}, {0});
  x = b.Add("fc1", Linear{128}, {x});
  x = b.Add("relu", Relu{}, {x});
  b.Add("fc2", Linear{classes}, {x});
  return std::move(b).Build();
}

StatusOr<Graph> LeNet5(const Shape& input, std::int64_t classes, bool) {
  GraphBuilder b("lenet5", input);
  // LeCun's images are 32 pixels wide; 28-pixel digits are padded to 32.
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

StatusOr<Graph> SmallCnn(const Shape& input, std::int64_t classes, bool) {
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

StatusOr<Graph> HarCnn(const Shape& input, std::int64_t classes, bool) {
  GraphBuilder b("har-cnn", input);
  NodeIndex x = SignalBlock(b, "1", 32, 9, 0);
  x = SignalBlock(b, "2", 64, 5, x);
  x = SignalBlock(b, "3", 96, 3, x);
  return WithHead(std::move(b), x, classes, {.pool = "pool", .rate = 0.3});
}

}  // namespace tributary::inline model::zoo
