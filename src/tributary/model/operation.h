#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

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

// What a node of a Graph computes: plain data, with the meaning and the defaults PyTorch gives the same names.

struct Input {
  Shape shape;
  static constexpr std::string_view kKind = "input";
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
  static constexpr std::string_view kKind = "conv";
};

// Zeros around an image. For layers that need more of them on one side than on the other.
struct Pad {
  Extent before{0, 0};  // above and to the left
  Extent after{0, 0};   // below and to the right
  static constexpr std::string_view kKind = "pad";
};

struct BatchNorm {
  double epsilon = 1e-5;
  double momentum = 0.1;  // weight of the newest batch in the running statistics
  static constexpr std::string_view kKind = "batch-norm";
};

struct GroupNorm {
  std::int64_t groups = 1;
  double epsilon = 1e-5;
  static constexpr std::string_view kKind = "group-norm";
};

struct Relu {
  static constexpr std::string_view kKind = "relu";
};

struct Relu6 {
  static constexpr std::string_view kKind = "relu6";
};

struct MaxPool {
  Extent kernel;
  Extent stride;
  Extent padding{0, 0};
  bool round_up = false;  // keep a last, partly covered window
  static constexpr std::string_view kKind = "max-pool";
};

struct AvgPool {
  Extent kernel;
  Extent stride;
  Extent padding{0, 0};
  bool round_up = false;
  bool count_padding = true;  // padded zeros count in the mean
  static constexpr std::string_view kKind = "avg-pool";
};

struct GlobalAvgPool {
  static constexpr std::string_view kKind = "global-avg-pool";
};

struct Linear {
  std::int64_t out_features = 0;
  bool bias = true;
  static constexpr std::string_view kKind = "linear";
};

struct Add {
  static constexpr std::string_view kKind = "add";
};

struct Concat {
  static constexpr std::string_view kKind = "concat";
};

struct Flatten {
  static constexpr std::string_view kKind = "flatten";
};

// Zeroes elements at random while training and scales the rest by 1/(1 − rate). Not to be confused with the filter
// dropout of policy/dropout, which removes whole channels.
struct Dropout {
  double rate = 0.5;
  static constexpr std::string_view kKind = "dropout";
};

using Operation = std::variant<Input, Conv, Pad, BatchNorm, GroupNorm, Relu, Relu6, MaxPool, AvgPool,
                               GlobalAvgPool, Linear, Add, Concat, Flatten, Dropout>;

inline std::string_view KindName(const Operation& operation) {
  return std::visit([](const auto& op) { return op.kKind; }, operation);
}

// The shape of an operation's output for inputs of these shapes, or why they do not fit it. Total: any numbers in the
// operation are answered with a shape or a Status, never with an overflow.
StatusOr<Shape> InferShape(const Operation& operation, std::span<const Shape> inputs);

}  // namespace tributary::inline model
