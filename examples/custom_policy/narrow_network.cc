#include "narrow_network.h"

#include <utility>

namespace {

using namespace tributary;

StatusOr<Graph> BuildNarrow(const Shape& input, std::int64_t classes, bool /*cifar_form*/) {
  GraphBuilder b("narrow", input);
  NodeIndex x =
      b.Add("conv1", Conv{.out_channels = 8, .kernel = {5, 5}, .stride = {2, 2}, .padding = {2, 2}}, {0});
  x = b.Add("relu1", Relu{}, {x});
  x = b.Add("conv2", Conv{.out_channels = 16, .kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}}, {x});
  x = b.Add("relu2", Relu{}, {x});
  x = b.Add("flatten", Flatten{}, {x});
  b.Add("fc", Linear{classes}, {x});
  return std::move(b).Build();
}

}  // namespace

tributary::NetworkKind NarrowNetwork() {
  return {.name = "narrow",
          .description = "two convolutions with stride, one linear layer, no norm",
          .input = {1, 16, 16},
          .classes = 4,
          .make = BuildNarrow};
}
