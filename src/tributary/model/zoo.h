#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tributary/base/status.h"
#include "tributary/model/graph.h"

namespace tributary::inline model {

// Which form of a network to build. The ImageNet forms reduce the image early and, in VGG, end in three linear layers;
// the CIFAR forms start at full resolution: ResNet with a 3×3 stem of stride 1 and no pooling, VGG with global pooling
// and one linear layer, MobileNet-v2, GoogLeNet and Inception-v4 without their first reductions.
enum class Stem {
  kAuto,  // CIFAR for inputs up to 64 pixels, ImageNet above
  kCifar,
  kImageNet,
};

struct ZooOptions {
  std::string name;
  std::optional<Shape> input;           // the network's own default when not given: 3x224x224 or 3x32x32
  std::optional<std::int64_t> classes;  // likewise: 1000 or 10
  Stem stem = Stem::kAuto;
  // The layers after which it is cut, if it is, as names: batch norms up to `cut` and after `tail` are group norms then,
  // since nobody there sees a whole batch (WithGroupNorms).
  std::string cut, tail;
  // The share of every layer's channels that there are, above 0 and up to 1 (NarrowGraph).
  double width = 1;
  // Where given, a network that somebody brought takes the place of the zoo's; `input` and `classes` must fit it, and
  // `name` is only what it is called.
  std::shared_ptr<const Graph> imported{};
};

struct ZooEntry {
  std::string name;
  std::string description;
  Shape input;
  std::int64_t classes;
};

// The networks that are built in, smallest first. Node names are those of the reference implementations, so that
// parameters carry the names PyTorch gives them.
std::span<const ZooEntry> Zoo();

// Builds one; an unknown name is answered with the nearest.
StatusOr<Graph> BuildZooGraph(const ZooOptions& options);

StatusOr<Stem> ParseStem(std::string_view text);

}  // namespace tributary::inline model
