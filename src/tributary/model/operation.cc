#include "tributary/model/operation.h"

#include <fmt/format.h>

#include <charconv>

namespace tributary::inline model {
namespace {

// Larger than any network that can run; below these limits no product or sum of the analyses overflows.
constexpr std::int64_t kLargestSize = std::int64_t{1} << 24;    // channels, columns, height, width
constexpr std::int64_t kLargestTensor = std::int64_t{1} << 40;  // elements of an output or a weight
constexpr std::int64_t kMostMacs = std::int64_t{1} << 50;       // of one node

bool InRange(std::int64_t value, std::int64_t low = 1) { return value >= low && value <= kLargestSize; }
bool InRange(const Extent& extent, std::int64_t low = 1) {
  return InRange(extent.height, low) && InRange(extent.width, low);
}

std::string Text(const Extent& extent) {
  return std::to_string(extent.height) + "x" + std::to_string(extent.width);
}

struct Window {
  Extent kernel, stride, padding, dilation;
  bool round_up;
};

// The number of positions of a sliding window in one dimension; 0 if the window does not fit.
std::int64_t Slide(std::int64_t size, std::int64_t kernel, std::int64_t stride, std::int64_t padding,
                   std::int64_t dilation, bool round_up) {
  const std::int64_t free = size + 2 * padding - (dilation * (kernel - 1) + 1);
  if (free < 0) return 0;
  std::int64_t steps = (free + (round_up ? stride - 1 : 0)) / stride;
  // As in PyTorch, a window added by rounding up must start inside the image or its left padding.
  if (round_up && steps * stride >= size + padding) --steps;
  return steps + 1;
}

StatusOr<Shape> SlideOver(const Shape& input, const Window& window, std::int64_t channels) {
  if (!InRange(window.kernel) || !InRange(window.stride) || !InRange(window.padding, 0) ||
      !InRange(window.dilation)) {
    return InvalidArgument(
        "kernel, stride and dilation must be at least 1 and padding at least 0; found kernel " +
        Text(window.kernel) + ", stride " + Text(window.stride) + ", padding " + Text(window.padding) +
        ", dilation " + Text(window.dilation));
  }
  const Shape output{channels,
                     Slide(input.height, window.kernel.height, window.stride.height, window.padding.height,
                           window.dilation.height, window.round_up),
                     Slide(input.width, window.kernel.width, window.stride.width, window.padding.width,
                           window.dilation.width, window.round_up)};
  if (output.height < 1 || output.width < 1) {
    return InvalidArgument("a window of " + Text(window.kernel) + " does not fit into its input " +
                           FormatShape(input) + " (padding " + Text(window.padding) +
                           "); use a larger --input or a network with fewer reductions");
  }
  return output;
}

StatusOr<Shape> Pool(const Shape& input, const Extent& kernel, const Extent& stride, const Extent& padding,
                     bool round_up) {
  if (InRange(kernel) && (padding.height > kernel.height / 2 || padding.width > kernel.width / 2)) {
    return InvalidArgument("padding " + Text(padding) + " is more than half of the pooling window " +
                           Text(kernel));
  }
  return SlideOver(input, {kernel, stride, padding, {1, 1}, round_up}, input.channels);
}

Status NeedsImage(const Shape& input) {
  if (!input.flat) return OkStatus();
  return InvalidArgument("needs channels x height x width, but its input is flat (" + FormatShape(input) +
                         ")");
}

class Inference {
 public:
  explicit Inference(std::span<const Shape> inputs) : inputs_(inputs) {}

  StatusOr<Shape> operator()(const Input& op) const { return op.shape; }

  StatusOr<Shape> operator()(const Conv& op) const {
    TRIBUTARY_RETURN_IF_ERROR(NeedsImage(inputs_[0]));
    const std::int64_t in = inputs_[0].channels;
    if (!InRange(op.out_channels)) return InvalidArgument("needs at least one output channel");
    if (op.groups < 1 || in % op.groups != 0 || op.out_channels % op.groups != 0) {
      return InvalidArgument(std::to_string(op.groups) + " groups do not divide " + std::to_string(in) +
                             " input and " + std::to_string(op.out_channels) + " output channels");
    }
    TRIBUTARY_ASSIGN_OR_RETURN(
        const Shape output,
        SlideOver(inputs_[0], {op.kernel, op.stride, op.padding, op.dilation, false}, op.out_channels));
    if (op.kernel.height * op.kernel.width > kLargestTensor / (in / op.groups) / op.out_channels)
      return InvalidArgument("its weights would have more than 2^40 elements");
    if (output.elements() > kMostMacs / (in / op.groups) / (op.kernel.height * op.kernel.width))
      return InvalidArgument("it would take more than 2^50 multiply-accumulates for one sample");
    return output;
  }

  StatusOr<Shape> operator()(const Pad& op) const {
    TRIBUTARY_RETURN_IF_ERROR(NeedsImage(inputs_[0]));
    if (!InRange(op.before, 0) || !InRange(op.after, 0)) {
      return InvalidArgument("adds " + Text(op.before) + " before and " + Text(op.after) +
                             " after; at least 0 are needed");
    }
    Shape output = inputs_[0];
    output.height += op.before.height + op.after.height;
    output.width += op.before.width + op.after.width;
    return output;
  }

  StatusOr<Shape> operator()(const BatchNorm& op) const {
    if (!(op.epsilon > 0) || !(op.momentum >= 0 && op.momentum <= 1))
      return InvalidArgument("epsilon must be positive and momentum between 0 and 1");
    return inputs_[0];
  }

  StatusOr<Shape> operator()(const GroupNorm& op) const {
    if (!(op.epsilon > 0)) return InvalidArgument("epsilon must be positive");
    if (op.groups < 1 || inputs_[0].channels % op.groups != 0) {
      return InvalidArgument(std::to_string(op.groups) + " groups do not divide " +
                             std::to_string(inputs_[0].channels) + " channels");
    }
    return inputs_[0];
  }

  StatusOr<Shape> operator()(const Relu&) const { return inputs_[0]; }
  StatusOr<Shape> operator()(const Relu6&) const { return inputs_[0]; }

  StatusOr<Shape> operator()(const MaxPool& op) const {
    TRIBUTARY_RETURN_IF_ERROR(NeedsImage(inputs_[0]));
    return Pool(inputs_[0], op.kernel, op.stride, op.padding, op.round_up);
  }

  StatusOr<Shape> operator()(const AvgPool& op) const {
    TRIBUTARY_RETURN_IF_ERROR(NeedsImage(inputs_[0]));
    return Pool(inputs_[0], op.kernel, op.stride, op.padding, op.round_up);
  }

  StatusOr<Shape> operator()(const GlobalAvgPool&) const {
    TRIBUTARY_RETURN_IF_ERROR(NeedsImage(inputs_[0]));
    return Shape{inputs_[0].channels, 1, 1};
  }

  StatusOr<Shape> operator()(const Linear& op) const {
    if (!inputs_[0].flat) {
      return InvalidArgument("needs a flat input, found " + FormatShape(inputs_[0]) +
                             "; put a flatten before it");
    }
    if (!InRange(op.out_features)) return InvalidArgument("needs at least one output feature");
    if (inputs_[0].channels > kLargestTensor / op.out_features)
      return InvalidArgument("its weights would have more than 2^40 elements");
    return Shape::Flat(op.out_features);
  }

  StatusOr<Shape> operator()(const Add&) const {
    for (const Shape& input : inputs_) {
      if (input != inputs_[0]) {
        return InvalidArgument("adds tensors of different shapes: " + FormatShape(inputs_[0]) + " and " +
                               FormatShape(input));
      }
    }
    return inputs_[0];
  }

  StatusOr<Shape> operator()(const Concat&) const {
    Shape output = inputs_[0];
    for (const Shape& input : inputs_.subspan(1)) {
      if (input.height != output.height || input.width != output.width || input.flat != output.flat) {
        return InvalidArgument("joins tensors of different sizes: " + FormatShape(inputs_[0]) + " and " +
                               FormatShape(input));
      }
      output.channels += input.channels;
    }
    return output;
  }

  StatusOr<Shape> operator()(const Flatten&) const { return Shape::Flat(inputs_[0].elements()); }

  StatusOr<Shape> operator()(const Dropout& op) const {
    if (!(op.rate >= 0 && op.rate < 1)) return InvalidArgument("a dropout rate lies in [0, 1)");
    return inputs_[0];
  }

 private:
  std::span<const Shape> inputs_;
};

Status CheckInputCount(const Operation& operation, std::size_t count) {
  const InputArity arity = TraitsOf(operation).arity;
  const bool joins = arity == InputArity::kSeveral, starts = arity == InputArity::kNone;
  if (joins ? count >= 1 : count == (starts ? 0U : 1U)) return OkStatus();
  return InvalidArgument("takes " +
                         std::string(joins    ? "at least one input"
                                     : starts ? "no input"
                                              : "one input") +
                         ", found " + std::to_string(count));
}

}  // namespace

StatusOr<Shape> InferShape(const Operation& operation, std::span<const Shape> inputs) {
  TRIBUTARY_RETURN_IF_ERROR(CheckInputCount(operation, inputs.size()));
  TRIBUTARY_ASSIGN_OR_RETURN(const Shape output, std::visit(Inference(inputs), operation));
  const bool fits = output.channels >= 1 && output.height >= 1 && output.width >= 1 &&
                    output.channels <= kLargestSize && output.height <= kLargestSize &&
                    output.width <= kLargestSize &&
                    output.channels <= kLargestTensor / output.height / output.width;
  if (!fits) {
    return InvalidArgument("its output " + FormatShape(output) +
                           " is empty or too large (at most 2^24 channels or columns and 2^40 elements)");
  }
  return output;
}

std::string FormatShape(const Shape& shape) {
  if (shape.flat) return std::to_string(shape.channels);
  return fmt::format("{}x{}x{}", shape.channels, shape.height, shape.width);
}

StatusOr<Shape> ParseShape(std::string_view text) {
  const auto fail = [&] {
    return InvalidArgument(
        "'" + std::string(text.substr(0, 64)) +
        "' is not a shape; write channels x height x width, e.g. 3x32x32, each from 1 to 65536");
  };
  constexpr std::int64_t kLargest = 65536;
  std::int64_t parts[3] = {};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (int i = 0; i < 3; ++i) {
    if (i > 0 && (at == end || *at++ != 'x')) return fail();
    const auto [rest, error] = std::from_chars(at, end, parts[i]);
    if (error != std::errc() || parts[i] < 1 || parts[i] > kLargest) return fail();
    at = rest;
  }
  if (at != end) return fail();
  return Shape{parts[0], parts[1], parts[2]};
}

}  // namespace tributary::inline model
