// VGG (Simonyan and Zisserman, 2015) without batch norm. torchvision's node names: features.N, classifier.N.

#include <vector>

#include "tributary/base/check.h"
#include "tributary/model/zoo/families.h"

namespace tributary::inline model::zoo {
namespace {

// The number of convolutions in each of the five stages.
std::vector<int> StageDepths(int depth) {
  switch (depth) {
    case 11:
      return {1, 1, 2, 2, 2};
    case 16:
      return {2, 2, 3, 3, 3};
    case 19:
      return {2, 2, 4, 4, 4};
    default:
      TRIBUTARY_CHECK(false);
      return {};
  }
}

constexpr std::int64_t kWidths[] = {64, 128, 256, 512, 512};

}  // namespace

StatusOr<Graph> Vgg(int depth, const Shape& input, std::int64_t classes, bool cifar_form) {
  GraphBuilder b("vgg" + std::to_string(depth), input);
  NodeIndex x = 0;
  int module = 0;
  const auto next = [&] { return "features." + std::to_string(module++); };
  const std::vector<int> depths = StageDepths(depth);
  for (std::size_t stage = 0; stage < depths.size(); ++stage) {
    for (int i = 0; i < depths[stage]; ++i) {
      x = b.Add(next(), Conv{.out_channels = kWidths[stage], .kernel = {3, 3}, .padding = {1, 1}}, {x});
      x = b.Add(next(), Relu{}, {x});
    }
    const std::string name = next();
    // Images smaller than 32 pixels have shrunk to one pixel before the last pooling.
    const bool one_pixel = b.shape(x).height == 1 && b.shape(x).width == 1;
    if (!(cifar_form && one_pixel)) x = b.Add(name, MaxPool{{2, 2}, {2, 2}}, {x});
  }
  if (cifar_form) return WithHead(std::move(b), x, classes, {.linear = "classifier"});
  x = b.Add("flatten", Flatten{}, {x});
  x = b.Add("classifier.0", Linear{4096}, {x});
  x = b.Add("classifier.1", Relu{}, {x});
  x = b.Add("classifier.2", Dropout{0.5}, {x});
  x = b.Add("classifier.3", Linear{4096}, {x});
  x = b.Add("classifier.4", Relu{}, {x});
  x = b.Add("classifier.5", Dropout{0.5}, {x});
  b.Add("classifier.6", Linear{classes}, {x});
  return std::move(b).Build();
}

}  // namespace tributary::inline model::zoo
