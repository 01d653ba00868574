#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tributary/base/status.h"
#include "tributary/model/graph.h"

namespace tributary::inline model {

// The form of a network. ImageNet forms reduce the image early, and VGG ends in three linear layers. CIFAR
// forms start at full resolution: ResNet with a 3×3 stem of stride 1 and no pooling, VGG with global pooling
// and one linear layer, MobileNet-v2, GoogLeNet and Inception-v4 without their first reductions.
enum class Stem {
  kAuto,  // CIFAR for inputs up to 64 pixels, ImageNet above
  kCifar,
  kImageNet,
};

// A network that experiments select by name.
struct NetworkKind {
  std::string name;
  std::string description;   // one line
  Shape input;               // default shape of a sample
  std::int64_t classes = 0;  // default number of classes
  // Builds the network for these samples; `cifar_form` selects the form for small images.
  std::function<StatusOr<Graph>(const Shape& input, std::int64_t classes, bool cifar_form)> make;
};

struct ZooOptions {
  std::string name;
  std::optional<Shape> input;           // default: that of the network, 3x224x224 or 3x32x32
  std::optional<std::int64_t> classes;  // default: 1000 or 10
  Stem stem = Stem::kAuto;
  // Names of the cut layers of a split network, or empty. Batch norms up to `cut` and after `tail` become
  // group norms (WithGroupNorms), because no device sees a whole batch.
  std::string cut, tail;
  // The share of every layer's channels, in (0, 1] (NarrowGraph).
  double width = 1;
  // An imported network instead of the zoo's; `input` and `classes` must fit it, and `name` is only a label.
  std::shared_ptr<const Graph> imported{};
  // A network of the program's extensions instead of the zoo's.
  std::shared_ptr<const NetworkKind> own{};
};

// The built-in networks, smallest first, with the node names of PyTorch's implementations.
std::span<const NetworkKind> Zoo();

// Builds a network; the error for an unknown name suggests the nearest.
StatusOr<Graph> BuildZooGraph(const ZooOptions& options);

StatusOr<Stem> ParseStem(std::string_view text);

}  // namespace tributary::inline model
