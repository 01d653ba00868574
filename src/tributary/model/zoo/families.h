#pragma once

#include "tributary/base/status.h"
#include "tributary/model/graph.h"

namespace tributary::inline model::zoo {

// One function per family of networks. `cifar_form` picks the form for small images (see Stem in zoo.h); networks
// that have only one ignore it. Inputs that are too small for a network are reported by the layer that does not fit.

StatusOr<Graph> Perceptron(const Shape& input, std::int64_t classes);
StatusOr<Graph> LeNet5(const Shape& input, std::int64_t classes);
StatusOr<Graph> SmallCnn(const Shape& input, std::int64_t classes);
StatusOr<Graph> HarCnn(const Shape& input, std::int64_t classes);
StatusOr<Graph> Vgg(int depth, const Shape& input, std::int64_t classes, bool cifar_form);
StatusOr<Graph> ResNet(int depth, const Shape& input, std::int64_t classes, bool cifar_form);
StatusOr<Graph> DenseNet(int depth, const Shape& input, std::int64_t classes);
StatusOr<Graph> MobileNetV2(const Shape& input, std::int64_t classes, bool cifar_form);
StatusOr<Graph> GoogLeNet(const Shape& input, std::int64_t classes, bool cifar_form);
StatusOr<Graph> InceptionV4(const Shape& input, std::int64_t classes, bool cifar_form);

}  // namespace tributary::inline model::zoo
