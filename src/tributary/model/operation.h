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

// The shape of one sample's tensor, without the batch. A flat tensor (after flatten and linear layers) has
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

// Traits of a kind of node. Each kind must define all of them, and the members its role needs, to compile.
enum class InputArity { kNone, kOne, kSeveral };  // number of inputs
enum class LayerRole {
  kOther,        // without learnt tensors
  kElementwise,  // the same, and each output channel depends only on the same input channel
  kLayer,        // a weight with one row per output, optionally a bias: see Conv
  kNorm,         // a scale and a shift per channel
  kBatchNorm,    // the same with running statistics: depends on the other samples of the batch
};
enum class ChannelRule {  // origin of the output's channels
  kMade,
  kKept,       // those of the input
  kAdded,      // each is computed from the same channel of all inputs
  kJoined,     // those of all inputs, concatenated
  kFlattened,  // each input channel once per position
};
struct KindTraits {
  constexpr KindTraits(std::string_view n, InputArity a, LayerRole r, ChannelRule c)
      : name(n), arity(a), role(r), channels(c) {}
  std::string_view name;
  InputArity arity;
  LayerRole role;
  ChannelRule channels;
};

// What a node of a Graph computes: plain data with the meaning and defaults of the same names in PyTorch.
// kFields lists the fields of the text format (graph_text.h) by name.

struct Input {
  Shape shape;
  static constexpr KindTraits kTraits{"input", InputArity::kNone, LayerRole::kOther, ChannelRule::kMade};
  static constexpr auto kFields = std::make_tuple();
};

// As in PyTorch, `groups` independent convolutions; groups = input channels is depthwise.
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

  // Members of every layer: number of outputs, shape of the weight, and variance of the initial weights.
  std::int64_t& outputs() { return out_channels; }
  std::vector<std::int64_t> WeightShape(std::int64_t inputs) const {
    return {out_channels, inputs / groups, kernel.height, kernel.width};
  }
  double FirstVariance(std::int64_t, bool) const {
    return 2.0 / static_cast<double>(out_channels / groups * kernel.height * kernel.width);
  }
  std::int64_t blocks() const { return groups > 1 ? groups : 0; }
};

// Zero padding that may differ between the sides.
struct Pad {
  Extent before{0, 0};  // above and to the left
  Extent after{0, 0};   // below and to the right
  static constexpr KindTraits kTraits{"pad", InputArity::kOne, LayerRole::kOther, ChannelRule::kKept};
  static constexpr auto kFields =
      std::make_tuple(std::pair("before", &Pad::before), std::pair("after", &Pad::after));
};

struct BatchNorm {
  double epsilon = 1e-5;
  double momentum = 0.1;  // of the newest batch in the running statistics
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
  bool round_up = false;  // keep a last, partially covered window (PyTorch's ceil_mode)
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
  bool count_padding = true;  // include padded zeros in the mean
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

// Zeroes random elements during training and scales the others by 1/(1 − rate). Unrelated to the filter
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

// Calls use(layer) if the operation has a weight.
template <typename Use>
void WithLayer(auto& operation, const Use& use) {
  std::visit(
      [&]<typename Op>(Op& op) {
        if constexpr (Op::kTraits.role == LayerRole::kLayer) use(op);
      },
      operation);
}

// The number of channel blocks that a node processes independently; 0 if it does not work in blocks.
inline std::int64_t BlocksOf(const Operation& operation) {
  return std::visit(
      [](const auto& op) -> std::int64_t {
        if constexpr (requires { op.groups; }) return op.blocks();
        return 0;
      },
      operation);
}

// The shape of an operation's output for these input shapes, or why the inputs do not fit. Never overflows,
// for any numbers in the operation.
StatusOr<Shape> InferShape(const Operation& operation, std::span<const Shape> inputs);

}  // namespace tributary::inline model
