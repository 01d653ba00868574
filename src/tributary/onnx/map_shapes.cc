// Operators that move or join values, and operators that compute shapes.

#include <algorithm>

#include "tributary/model/safetensors_header.h"
#include "tributary/onnx/mapping.h"

namespace tributary::inline onnx {
namespace {

std::string NumbersText(const OnnxShapeNumbers& numbers) {
  std::string text = "[";
  for (std::size_t i = 0; i < numbers.size(); ++i)
    text += (i > 0 ? ", " : "") + (numbers[i] == kBatchSize ? "batch" : std::to_string(numbers[i]));
  return text + "]";
}

constexpr int kMostNumbers = 64;

}  // namespace

Status OnnxMapping::MapAdd() {
  std::vector<NodeIndex> inputs;
  TRIBUTARY_ASSIGN_OR_RETURN(OnnxActivation result, ActivationAt(0));
  for (std::size_t i = 0; i < InputCount(); ++i) {
    if (ConstantAt(i) != nullptr) {
      return Refuse(
          "adds a constant; allowed: one value per channel, directly after a Conv, Gemm or MatMul without "
          "bias");
    }
    TRIBUTARY_ASSIGN_OR_RETURN(const OnnxActivation input, ActivationAt(i));
    if (input.order != result.order) return Refuse("adds values of different orders of channels");
    inputs.push_back(input.node);
  }
  result.node = Add(tributary::Add{}, std::move(inputs));
  return Give(result);
}

Status OnnxMapping::MapConcat() {
  TRIBUTARY_ASSIGN_OR_RETURN(const Mapped* first, In(0));
  if (first == nullptr) return Refuse("has no inputs");
  if (!std::holds_alternative<OnnxActivation>(*first)) {  // a shape computation
    OnnxShapeNumbers numbers;
    for (std::size_t i = 0; i < InputCount(); ++i) {
      TRIBUTARY_ASSIGN_OR_RETURN(const OnnxShapeNumbers part, NumbersAt(i));
      numbers.insert(numbers.end(), part.begin(), part.end());
      if (std::ssize(numbers) > kMostNumbers) return Refuse("puts together a shape of more than 64 sides");
    }
    return Give(std::move(numbers));
  }
  std::vector<NodeIndex> inputs;
  for (std::size_t i = 0; i < InputCount(); ++i) {
    TRIBUTARY_ASSIGN_OR_RETURN(const NodeIndex input, NodeAt(i));
    inputs.push_back(input);
  }
  const std::int64_t axis = Integer("axis", 1);
  const bool flat = builder_.shape(inputs[0]).flat;
  if (axis != 1 && axis != (flat ? -1 : -3))
    return RefuseAttribute("axis", std::to_string(axis), "1, the channels");
  return Give(Add(Concat{}, std::move(inputs)));
}

Status OnnxMapping::FlattenValue(OnnxActivation input) {
  const Shape shape = builder_.shape(input.node);
  if (shape.flat) return Give(input);
  OnnxActivation flat{Add(Flatten{}, {input.node})};
  if (input.order == ValueOrder::kChannelsLast && shape.height * shape.width > 1) {
    flat.order = ValueOrder::kFlatChannelsLast;
    flat.before_flatten = shape;
  }
  return Give(flat);
}

Status OnnxMapping::MapFlatten() {
  TRIBUTARY_ASSIGN_OR_RETURN(const OnnxActivation input, ActivationAt(0));
  const std::int64_t axis = Integer("axis", 1);
  const bool flat = builder_.shape(input.node).flat;
  if (axis != 1 && axis != (flat ? -1 : -3)) return RefuseAttribute("axis", std::to_string(axis), "1");
  return FlattenValue(input);
}

Status OnnxMapping::MapReshape() {
  TRIBUTARY_ASSIGN_OR_RETURN(const Mapped* value, In(0));
  if (value != nullptr && !std::holds_alternative<OnnxActivation>(*value)) {  // a shape computation
    TRIBUTARY_ASSIGN_OR_RETURN(OnnxShapeNumbers numbers, NumbersAt(0));
    return Give(std::move(numbers));
  }
  TRIBUTARY_ASSIGN_OR_RETURN(const OnnxActivation input, ActivationAt(0));
  TRIBUTARY_ASSIGN_OR_RETURN(const OnnxShapeNumbers sides, NumbersAt(1));
  const Shape shape = builder_.shape(input.node);
  const std::int64_t columns = shape.elements();
  // Files exported for a fixed batch size have that size here.
  const std::vector<std::int64_t> given =
      graph_.input_size() == 0 ? OnnxShapeNumbers() : SizesOf(graph_.input(0));
  const std::int64_t batch = given.empty() ? 1 : given[0];
  if (sides.size() == 2) {
    const bool keeps_batch =
        sides[0] == kBatchSize || sides[0] == 0 || sides[0] == 1 || sides[0] == batch || sides[0] == -1;
    const bool all_columns =
        sides[1] == columns || (sides[1] == -1 && sides[0] != -1) || (sides[1] == 0 && shape.flat);
    if (keeps_batch && all_columns) return FlattenValue(input);
  }
  return Refuse("gives values of shape " + FormatShape(shape) + " the shape " + NumbersText(sides) +
                "; allowed: [batch, " + std::to_string(columns) + "], which flattens them");
}

Status OnnxMapping::MapSqueeze() {
  TRIBUTARY_ASSIGN_OR_RETURN(const Mapped* value, In(0));
  if (value != nullptr && !std::holds_alternative<OnnxActivation>(*value)) {
    TRIBUTARY_ASSIGN_OR_RETURN(OnnxShapeNumbers numbers, NumbersAt(0));
    return Give(std::move(numbers));
  }
  TRIBUTARY_ASSIGN_OR_RETURN(const OnnxActivation input, ActivationAt(0));
  TRIBUTARY_ASSIGN_OR_RETURN(const std::vector<std::int64_t> axes, Axes());
  const Shape shape = builder_.shape(input.node);
  if (!AreSpatial(axes, input.order) || shape.height != 1 || shape.width != 1) {
    return Refuse("takes the axes " + SizesText(axes) + " from values of shape " + FormatShape(shape) +
                  "; allowed: height and width, where both are 1");
  }
  return FlattenValue(input);
}

StatusOr<std::vector<std::int64_t>> OnnxMapping::Axes() {
  std::vector<std::int64_t> axes = Integers("axes");
  if (Find("axes") == nullptr && !InputName(1).empty()) {
    TRIBUTARY_ASSIGN_OR_RETURN(axes, NumbersAt(1));
  }
  const bool small = axes.size() <= 8 &&
                     std::ranges::all_of(axes, [](std::int64_t axis) { return axis >= -8 && axis <= 8; });
  if (!small) return Refuse("has axes that do not exist");
  for (std::int64_t& axis : axes) axis += axis < 0 ? 4 : 0;
  std::ranges::sort(axes);
  return axes;
}

bool OnnxMapping::AreSpatial(const std::vector<std::int64_t>& axes, ValueOrder order) {
  const std::int64_t height = order == ValueOrder::kChannelsLast ? 1 : 2;
  return axes == std::vector<std::int64_t>{height, height + 1};
}

Status OnnxMapping::MapTranspose() {
  TRIBUTARY_ASSIGN_OR_RETURN(OnnxActivation input, ActivationAt(0));
  const std::vector<std::int64_t> order = Integers("perm");
  const std::vector<std::int64_t> to_first = {0, 3, 1, 2}, to_last = {0, 2, 3, 1};
  if (input.order == ValueOrder::kChannelsLast && order == to_first) {
    input.order = ValueOrder::kChannelsFirst;
  } else if (input.order == ValueOrder::kChannelsFirst && order == to_last &&
             !builder_.shape(input.node).flat) {
    input.order = ValueOrder::kChannelsLast;
  } else {
    return RefuseAttribute("perm", SizesText(order),
                           "[0, 3, 1, 2] and [0, 2, 3, 1], between channels last and channels first");
  }
  return Give(input);
}

Status OnnxMapping::MapSoftmax() {
  TRIBUTARY_ASSIGN_OR_RETURN(const OnnxActivation input, ActivationAt(0));
  const auto readers = readers_.find(node_->output(0));
  const bool ends = readers == readers_.end() ||
                    std::ranges::all_of(readers->second,
                                        [](const OnnxNode* node) { return node->op_type() == "Identity"; });
  if (!ends) return Refuse("is not at the end; allowed: at the end, where the loss replaces it");
  const std::int64_t axis = Integer("axis", -1);
  if (!builder_.shape(input.node).flat || (axis != 1 && axis != -1))
    return Refuse("must be over the classes: axis 1 of [batch, classes]");
  notes_.push_back("the " + node_->op_type() +
                   " at the end is left out: the loss includes it, and scores do not");
  return Give(input);
}

Status OnnxMapping::MapIdentity() {
  TRIBUTARY_ASSIGN_OR_RETURN(const Mapped* value, In(0));
  if (value == nullptr) return Refuse("has no input");
  return Give(Mapped(*value));
}

Status OnnxMapping::MapConstant() {
  if (const OnnxAttribute* value = Find("value"); value != nullptr && value->has_t()) {
    return Give(&value->t());
  } else if (const OnnxAttribute* list = Find("value_ints")) {
    if (list->ints_size() > kMostNumbers) return Refuse("holds more than 64 whole numbers");
    return Give(Integers("value_ints"));
  } else if (const OnnxAttribute* one = Find("value_int")) {
    return Give(OnnxShapeNumbers{one->i()});
  } else if (const OnnxAttribute* real = Find("value_float")) {
    OnnxTensor& tensor = made_.emplace_back();
    tensor.set_data_type(OnnxTensor::FLOAT);
    tensor.add_float_data(real->f());
    return Give(&tensor);
  } else if (const OnnxAttribute* reals = Find("value_floats")) {
    OnnxTensor& tensor = made_.emplace_back();
    tensor.set_data_type(OnnxTensor::FLOAT);
    tensor.add_dims(reals->floats_size());
    *tensor.mutable_float_data() = reals->floats();
    return Give(&tensor);
  }
  return Refuse("has no value that is a tensor or numbers");
}

Status OnnxMapping::MapShape() {
  TRIBUTARY_ASSIGN_OR_RETURN(const OnnxActivation input, ActivationAt(0));
  if (Find("start") != nullptr || Find("end") != nullptr)
    return RefuseAttribute("start", "given", "none: the whole shape");
  const Shape shape = builder_.shape(input.node);
  if (shape.flat) return Give(OnnxShapeNumbers{kBatchSize, shape.channels});
  if (input.order == ValueOrder::kChannelsLast)
    return Give(OnnxShapeNumbers{kBatchSize, shape.height, shape.width, shape.channels});
  return Give(OnnxShapeNumbers{kBatchSize, shape.channels, shape.height, shape.width});
}

Status OnnxMapping::MapGather() {
  TRIBUTARY_ASSIGN_OR_RETURN(const OnnxShapeNumbers numbers, NumbersAt(0));
  TRIBUTARY_ASSIGN_OR_RETURN(const OnnxShapeNumbers indices, NumbersAt(1));
  OnnxShapeNumbers taken;
  for (std::int64_t index : indices) {
    const auto size = std::ssize(numbers);
    if (index < 0) index += size;
    if (index < 0 || index >= size || std::ssize(taken) == kMostNumbers)
      return Refuse("takes a side that the shape does not have");
    taken.push_back(numbers[static_cast<std::size_t>(index)]);
  }
  return Give(std::move(taken));
}

Status OnnxMapping::MapUnsqueeze() {
  TRIBUTARY_ASSIGN_OR_RETURN(OnnxShapeNumbers numbers, NumbersAt(0));
  return Give(std::move(numbers));
}

}  // namespace tributary::inline onnx
