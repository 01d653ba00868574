#pragma once

#include "tributary/base/status.h"
#include "tributary/model/graph.h"

namespace tributary::inline model::zoo {

// One function per family. `cifar_form` selects the form for small images (see Stem in zoo.h); networks with
// one form ignore it. An input that is too small is reported by the layer that does not fit.

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

// The usual end of a network: global average pooling, optional dropout, and a linear layer, with these names.
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
