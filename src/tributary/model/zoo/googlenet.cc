// GoogLeNet (Szegedy et al., 2015) with batch norm and without the auxiliary heads. Node names follow torchvision, and
// so do the 3×3 convolutions in the third branch, which the paper has as 5×5.

#include "tributary/model/zoo/branch.h"
#include "tributary/model/zoo/families.h"

namespace tributary::zoo {
namespace {

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
  x = b.Add("avgpool", GlobalAvgPool{}, {x});
  x = b.Add("flatten", Flatten{}, {x});
  x = b.Add("dropout", Dropout{0.2}, {x});
  b.Add("fc", Linear{classes}, {x});
  return std::move(b).Build();
}

}  // namespace tributary::zoo
