#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "tributary/base/status.h"

namespace tributary::inline model {

// The shape of one sample's tensor, without the batch. A flat tensor (after flatten, and of every linear layer) has
// its columns in `channels`. One-dimensional signals are images of height 1.
struct Shape {
  std::int64_t channels = 0;
  std::int64_t height = 1;
  std::int64_t width = 1;
  bool flat = false;

  static Shape Flat(std::int64_t columns) { return {columns, 1, 1, true}; }
  std::int64_t elements() const { return channels * height * width; }

  friend bool operator==(const Shape&, const Shape&) = default;
};

// "64x32x32", or "512" for a flat one.
std::string FormatShape(const Shape& shape);

// Reads "CxHxW" with every part in 1 … 65536.
StatusOr<Shape> ParseShape(std::string_view text);

struct Extent {
  std::int64_t height = 1;
  std::int64_t width = 1;
  friend bool operator==(const Extent&, const Extent&) = default;
};

// What the analyses ask of a kind of node. Each kind states all of it, and what its role needs, so that a new kind that
// forgets something does not compile.
enum class InputArity { kNone, kOne, kSeveral };  // inputs
enum class LayerRole {
  kOther,        // nothing is learnt
  kElementwise,  // the same, and channels are handed on one by one
  kLayer,        // a weight with a row for each output, and perhaps a bias: see Conv
  kNorm,         // a scale and a shift for each channel
  kBatchNorm,    // the same, and running statistics, for it depends on the other samples of the batch
};
enum class ChannelRule {  // of the output
  kMade,
  kKept,       // the input's
  kAdded,      // each is made of the same one of all inputs
  kJoined,     // those of all inputs, one after the other
  kFlattened,  // each of the input's once for every place
};
struct KindTraits {
  constexpr KindTraits(std::string_view n, InputArity a, LayerRole r, ChannelRule c)
      : name(n), arity(a), role(r), channels(c) {}
  std::string_view name;
  InputArity arity;
  LayerRole role;
  ChannelRule channels;
};

// What a node of a Graph computes: plain data, with the meaning and the defaults PyTorch gives the same names. kFields are
// what text says of it, by name.

struct Input {
  Shape shape;
  static constexpr KindTraits kTraits{"input", InputArity::kNone, LayerRole::kOther, ChannelRule::kMade};
  static constexpr auto kFields = std::make_tuple();
};

// groups > 1 splits both channels into that many independent convolutions; groups = input channels is depthwise.
struct Conv {
  std::int64_t out_channels = 0;
  Extent kernel;
  Extent stride{1, 1};
  Extent padding{0, 0};
  Extent dilation{1, 1};
  std::int64_t groups = 1;
  bool bias = true;
  static constexpr KindTraits kTraits{"conv", InputArity::kOne, LayerRole::kLayer, ChannelRule::kMade};
  static constexpr auto kFields =
      std::make_tuple(std::pair("out", &Conv::out_channels), std::pair("kernel", &Conv::kernel),
                      std::pair("stride", &Conv::stride), std::pair("padding", &Conv::padding),
                      std::pair("dilation", &Conv::dilation), std::pair("groups", &Conv::groups),
                      std::pair("bias", &Conv::bias));

  // Of every layer: how many outputs it has, the shape of its weight for so many inputs, and the variance of its first
  // weights.
  std::int64_t& outputs() { return out_channels; }
  std::vector<std::int64_t> WeightShape(std::int64_t inputs) const {
    return {out_channels, inputs / groups, kernel.height, kernel.width};
  }
  double FirstVariance(std::int64_t, bool) const {
    return 2.0 / static_cast<double>(out_channels / groups * kernel.height * kernel.width);
  }
  std::int64_t blocks() const { return groups > 1 ? groups : 0; }
};

// Zeros around an image. For layers that need more of them on one side than on the other.
struct Pad {
  Extent before{0, 0};  // above and to the left
  Extent after{0, 0};   // below and to the right
  static constexpr KindTraits kTraits{"pad", InputArity::kOne, LayerRole::kOther, ChannelRule::kKept};
  static constexpr auto kFields =
      std::make_tuple(std::pair("before", &Pad::before), std::pair("after", &Pad::after));
};

struct BatchNorm {
  double epsilon = 1e-5;
  double momentum = 0.1;  // weight of the newest batch in the running statistics
  static constexpr KindTraits kTraits{"batch-norm", InputArity::kOne, LayerRole::kBatchNorm,
                                      ChannelRule::kKept};
  static constexpr auto kFields =
      std::make_tuple(std::pair("epsilon", &BatchNorm::epsilon), std::pair("momentum", &BatchNorm::momentum));
};

struct GroupNorm {
  std::int64_t groups = 1;
  double epsilon = 1e-5;
  static constexpr KindTraits kTraits{"group-norm", InputArity::kOne, LayerRole::kNorm, ChannelRule::kKept};
  static constexpr auto kFields =
      std::make_tuple(std::pair("groups", &GroupNorm::groups), std::pair("epsilon", &GroupNorm::epsilon));
  std::int64_t blocks() const { return groups; }
};

struct Relu {
  static constexpr KindTraits kTraits{"relu", InputArity::kOne, LayerRole::kElementwise, ChannelRule::kKept};
  static constexpr auto kFields = std::make_tuple();
};

struct Relu6 {
  static constexpr KindTraits kTraits{"relu6", InputArity::kOne, LayerRole::kElementwise, ChannelRule::kKept};
  static constexpr auto kFields = std::make_tuple();
};

struct MaxPool {
  Extent kernel;
  Extent stride;
  Extent padding{0, 0};
  bool round_up = false;  // keep a last, partly covered window
  static constexpr KindTraits kTraits{"max-pool", InputArity::kOne, LayerRole::kOther, ChannelRule::kKept};
  static constexpr auto kFields =
      std::make_tuple(std::pair("kernel", &MaxPool::kernel), std::pair("stride", &MaxPool::stride),
                      std::pair("padding", &MaxPool::padding), std::pair("round-up", &MaxPool::round_up));
};

struct AvgPool {
  Extent kernel;
  Extent stride;
  Extent padding{0, 0};
  bool round_up = false;
  bool count_padding = true;  // padded zeros count in the mean
  static constexpr KindTraits kTraits{"avg-pool", InputArity::kOne, LayerRole::kOther, ChannelRule::kKept};
  static constexpr auto kFields =
      std::make_tuple(std::pair("kernel", &AvgPool::kernel), std::pair("stride", &AvgPool::stride),
                      std::pair("padding", &AvgPool::padding), std::pair("round-up", &AvgPool::round_up),
                      std::pair("count-padding", &AvgPool::count_padding));
};

struct GlobalAvgPool {
  static constexpr KindTraits kTraits{"global-avg-pool", InputArity::kOne, LayerRole::kOther,
                                      ChannelRule::kKept};
  static constexpr auto kFields = std::make_tuple();
};

struct Linear {
  std::int64_t out_features = 0;
  bool bias = true;
  static constexpr KindTraits kTraits{"linear", InputArity::kOne, LayerRole::kLayer, ChannelRule::kMade};
  static constexpr auto kFields =
      std::make_tuple(std::pair("out", &Linear::out_features), std::pair("bias", &Linear::bias));

  std::int64_t& outputs() { return out_features; }
  std::vector<std::int64_t> WeightShape(std::int64_t inputs) const { return {out_features, inputs}; }
  double FirstVariance(std::int64_t inputs, bool classifier) const {
    return (classifier ? 1.0 : 2.0) / static_cast<double>(inputs);
  }
};

struct Add {
  static constexpr KindTraits kTraits{"add", InputArity::kSeveral, LayerRole::kOther, ChannelRule::kAdded};
  static constexpr auto kFields = std::make_tuple();
};

struct Concat {
  static constexpr KindTraits kTraits{"concat", InputArity::kSeveral, LayerRole::kOther,
                                      ChannelRule::kJoined};
  static constexpr auto kFields = std::make_tuple();
};

struct Flatten {
  static constexpr KindTraits kTraits{"flatten", InputArity::kOne, LayerRole::kOther,
                                      ChannelRule::kFlattened};
  static constexpr auto kFields = std::make_tuple();
};

// Zeroes elements at random while training and scales the rest by 1/(1 − rate). Not to be confused with the filter
// dropout of policy/dropout, which removes whole channels.
struct Dropout {
  double rate = 0.5;
  static constexpr KindTraits kTraits{"dropout", InputArity::kOne, LayerRole::kElementwise,
                                      ChannelRule::kKept};
  static constexpr auto kFields = std::make_tuple(std::pair("rate", &Dropout::rate));
};

using Operation = std::variant<Input, Conv, Pad, BatchNorm, GroupNorm, Relu, Relu6, MaxPool, AvgPool,
                               GlobalAvgPool, Linear, Add, Concat, Flatten, Dropout>;

inline const KindTraits& TraitsOf(const Operation& operation) {
  return std::visit([]<typename Op>(const Op&) -> const KindTraits& { return Op::kTraits; }, operation);
}
inline std::string_view KindName(const Operation& operation) { return TraitsOf(operation).name; }
inline bool IsNorm(const Operation& operation) {
  return TraitsOf(operation).role == LayerRole::kNorm || TraitsOf(operation).role == LayerRole::kBatchNorm;
}

// Calls use(layer) for one that has a weight.
template <typename Use>
void WithLayer(auto& operation, const Use& use) {
  std::visit(
      [&]<typename Op>(Op& op) {
        if constexpr (Op::kTraits.role == LayerRole::kLayer) use(op);
      },
      operation);
}

// How many blocks of channels a node works on by themselves, each needing all of its channels; 0 where it does not.
inline std::int64_t BlocksOf(const Operation& operation) {
  return std::visit(
      [](const auto& op) -> std::int64_t {
        if constexpr (requires { op.groups; }) return op.blocks();
        return 0;
      },
      operation);
}

// The shape of an operation's output for inputs of these shapes, or why they do not fit it. Total: any numbers in the
// operation are answered with a shape or a Status, never with an overflow.
StatusOr<Shape> InferShape(const Operation& operation, std::span<const Shape> inputs);

}  // namespace tributary::inline model
