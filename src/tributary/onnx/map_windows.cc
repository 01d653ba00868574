// Operators with a sliding window or a border.

#include <algorithm>

#include "tributary/model/operation.h"
#include "tributary/onnx/mapping.h"
#include "tributary/onnx/node_names.h"

namespace tributary::inline onnx {
namespace {

constexpr std::int64_t kLargestSide = std::int64_t{1} << 24;

bool AllWithin(std::span<const std::int64_t> numbers) {
  return std::ranges::all_of(numbers,
                             [](std::int64_t number) { return number >= 0 && number <= kLargestSide; });
}

// Computes the padding for a window at every stride; an odd element goes to the end if `upper`.
void PadToSame(std::int64_t size, std::int64_t reach, std::int64_t stride, bool upper, std::int64_t& before,
               std::int64_t& after) {
  const std::int64_t windows = (size + stride - 1) / stride;
  const std::int64_t missing = std::max<std::int64_t>(0, (windows - 1) * stride + reach - size);
  before = upper ? missing / 2 : missing - missing / 2;
  after = missing - before;
}

// The number of windows along a side, with `after` elements added to its end.
std::int64_t Windows(std::int64_t size, std::int64_t after, std::int64_t kernel, std::int64_t stride) {
  return size + after < kernel || stride < 1 ? 0 : (size + after - kernel) / stride + 1;
}

}  // namespace

StatusOr<OnnxMapping::Padding> OnnxMapping::PaddingOf(NodeIndex input, const Extent& reach,
                                                      const Extent& stride) const {
  Padding padding{{0, 0}, {0, 0}};
  const std::string_view automatic = Text("auto_pad", "NOTSET");
  if (automatic == "VALID") return padding;
  if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
    const std::int64_t numbers[] = {reach.height, reach.width, stride.height, stride.width};
    if (!AllWithin(numbers) || stride.height < 1 || stride.width < 1)
      return Refuse("its strides must be at least 1");
    const Shape shape = builder_.shape(input);
    const bool upper = automatic == "SAME_UPPER";
    PadToSame(shape.height, reach.height, stride.height, upper, padding.before.height, padding.after.height);
    PadToSame(shape.width, reach.width, stride.width, upper, padding.before.width, padding.after.width);
    return padding;
  }
  if (automatic != "NOTSET" && !automatic.empty())
    return RefuseAttribute("auto_pad", PlainLayerName(automatic), "NOTSET, VALID, SAME_UPPER, SAME_LOWER");
  if (Find("pads") == nullptr) return padding;
  const std::vector<std::int64_t> sides = Integers("pads");
  if (!AllWithin(sides) || (sides.size() != 2 && sides.size() != 4)) {
    return RefuseAttribute("pads", SizesText(sides),
                           "for height and width what is added before and after, at least 0");
  }
  if (sides.size() == 2) return Padding{{0, sides[0]}, {0, sides[1]}};
  return Padding{{sides[0], sides[1]}, {sides[2], sides[3]}};
}

bool OnnxMapping::FitsRoundedUp(NodeIndex input, const Extent& kernel, const Extent& stride,
                                const Padding& padding) const {
  if (padding.before != Extent{0, 0}) return false;
  const Shape shape = builder_.shape(input);
  const auto rounded = InferShape(MaxPool{kernel, stride, {0, 0}, true}, std::span(&shape, 1));
  return rounded.ok() &&
         rounded->height == Windows(shape.height, padding.after.height, kernel.height, stride.height) &&
         rounded->width == Windows(shape.width, padding.after.width, kernel.width, stride.width);
}

template <typename Pool>
Status OnnxMapping::MapPooling(Pool pool, bool border_counts) {
  TRIBUTARY_ASSIGN_OR_RETURN(NodeIndex input, NodeAt(0));
  TRIBUTARY_ASSIGN_OR_RETURN(pool.kernel, ExtentOf("kernel_shape", {1, 1}));
  TRIBUTARY_ASSIGN_OR_RETURN(pool.stride, ExtentOf("strides", {1, 1}));
  TRIBUTARY_ASSIGN_OR_RETURN(const Extent dilation, ExtentOf("dilations", {1, 1}));
  if (dilation != Extent{1, 1}) return RefuseAttribute("dilations", "more than 1", "1");
  TRIBUTARY_ASSIGN_OR_RETURN(const Padding padding, PaddingOf(input, pool.kernel, pool.stride));
  pool.round_up = Integer("ceil_mode", 0) != 0;
  if (padding.symmetric()) {
    pool.padding = padding.before;
  } else if (border_counts && !pool.round_up) {
    input = Add(Pad{padding.before, padding.after}, {input}, ".pad");
  } else if (!pool.round_up && FitsRoundedUp(input, pool.kernel, pool.stride, padding)) {
    pool.round_up = true;
  } else {
    return RefuseAttribute("pads", "not the same on both sides",
                           "the same on both sides, or less than a stride at the end alone");
  }
  return Give(Add(pool, {input}));
}

Status OnnxMapping::MapMaxPool() { return MapPooling(MaxPool{}, /*border_counts=*/false); }

Status OnnxMapping::MapAveragePool() {
  AvgPool pool;
  pool.count_padding = Integer("count_include_pad", 0) != 0;
  return MapPooling(pool, pool.count_padding);
}

Status OnnxMapping::MapGlobalAveragePool() {
  TRIBUTARY_ASSIGN_OR_RETURN(const NodeIndex input, NodeAt(0));
  return Give(Add(GlobalAvgPool{}, {input}));
}

// A mean over height and width is a common way to write it.
Status OnnxMapping::MapReduceMean() {
  TRIBUTARY_ASSIGN_OR_RETURN(OnnxActivation input, ActivationAt(0));
  TRIBUTARY_ASSIGN_OR_RETURN(const std::vector<std::int64_t> axes, Axes());
  if (!AreSpatial(axes, input.order)) {
    return Refuse("takes the mean over the axes " + SizesText(axes) +
                  "; allowed: over height and width, [2, 3]");
  }
  input.node = Add(GlobalAvgPool{}, {input.node});
  if (Integer("keepdims", 1) == 0) {
    input.node = Add(Flatten{}, {input.node}, ".flatten");
    input.order = ValueOrder::kChannelsFirst;  // Each channel has one value.
  }
  return Give(input);
}

Status OnnxMapping::MapPad() {
  TRIBUTARY_ASSIGN_OR_RETURN(OnnxActivation input, ActivationAt(0));
  std::vector<std::int64_t> pads = Integers("pads");
  if (Find("pads") == nullptr) {
    TRIBUTARY_ASSIGN_OR_RETURN(pads, NumbersAt(1));
  }
  const std::string_view mode = Text("mode", "constant");
  if (mode != "constant") return RefuseAttribute("mode", PlainLayerName(mode), "constant");
  TRIBUTARY_ASSIGN_OR_RETURN(const auto value, ScalarAt(2));
  if (value.value_or(Real("value", 0)) != 0) return Refuse("adds a border that is not zero");
  const std::size_t height = input.order == ValueOrder::kChannelsLast ? 1 : 2;
  const bool others = pads.size() == 8 && pads[0] == 0 && pads[4] == 0 && pads[height == 1 ? 3 : 1] == 0 &&
                      pads[height == 1 ? 7 : 5] == 0;
  if (!others || !AllWithin(pads) || input.order == ValueOrder::kFlatChannelsLast)
    return RefuseAttribute("pads", SizesText(pads), "zeros around height and width of an image");
  input.node = Add(Pad{{pads[height], pads[height + 1]}, {pads[height + 4], pads[height + 5]}}, {input.node});
  return Give(input);
}

}  // namespace tributary::inline onnx
