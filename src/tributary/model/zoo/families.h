#pragma once

#include "tributary/base/status.h"
#include "tributary/model/graph.h"

namespace tributary::inline model::zoo {

// One function per family of networks. `cifar_form` picks the form for small images (see Stem in zoo.h); networks
// that have only one ignore it. Inputs that are too small for a network are reported by the layer that does not fit.

StatusOr<Graph> Perceptron(const Shape& input, std::int64_t classes, bool cifar_form);
StatusOr<Graph> LeNet5(const Shape& input, std::int64_t classes, bool cifar_form);
StatusOr<Graph> SmallCnn(const Shape& input, std::int64_t classes, bool cifar_form);
StatusOr<Graph> HarCnn(const Shape& input, std::int64_t classes, bool cifar_form);
StatusOr<Graph> Vgg(int depth, const Shape& input, std::int64_t classes, bool cifar_form);
StatusOr<Graph> ResNet(int depth, const Shape& input, std::int64_t classes, bool cifar_form);
StatusOr<Graph> DenseNet(int depth, const Shape& input, std::int64_t classes, bool cifar_form);
StatusOr<Graph> MobileNetV2(const Shape& input, std::int64_t classes, bool cifar_form);
StatusOr<Graph> GoogLeNet(const Shape& input, std::int64_t classes, bool cifar_form);
StatusOr<Graph> InceptionV4(const Shape& input, std::int64_t classes, bool cifar_form);

// The end of most networks, under these names: the mean of every channel, dropout if there is some, and a linear layer.
struct Head {
  const char* pool = "avgpool";
  const char* linear = "fc";
  const char* dropout = "dropout";
  double rate = 0;
};
inline StatusOr<Graph> WithHead(GraphBuilder b, NodeIndex x, std::int64_t classes, const Head& head) {
  x = b.Add(head.pool, GlobalAvgPool{}, {x});
  x = b.Add("flatten", Flatten{}, {x});
  if (head.rate > 0) x = b.Add(head.dropout, Dropout{head.rate}, {x});
  b.Add(head.linear, Linear{classes}, {x});
  return std::move(b).Build();
}

}  // namespace tributary::inline model::zoo
