// Operators with weights, and activations.

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "tributary/base/number_text.h"
#include "tributary/onnx/mapping.h"

namespace tributary::inline onnx {
namespace {

// Transposes a rows × columns matrix.
std::vector<float> Transposed(const std::vector<float>& values, std::size_t rows, std::size_t columns) {
  std::vector<float> out(values.size());
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) out[c * rows + r] = values[r * columns + c];
  }
  return out;
}

// Reorders a layer's columns from a flattened H × W × C input to a flattened C × H × W input.
std::vector<float> ColumnsChannelsFirst(const std::vector<float>& weight, const Shape& shape) {
  const auto channels = static_cast<std::size_t>(shape.channels);
  const auto places = static_cast<std::size_t>(shape.height * shape.width);
  const std::size_t columns = channels * places;
  std::vector<float> out(weight.size());
  for (std::size_t row = 0; row < weight.size(); row += columns) {
    for (std::size_t c = 0; c < channels; ++c) {
      for (std::size_t p = 0; p < places; ++p) out[row + c * places + p] = weight[row + p * channels + c];
    }
  }
  return out;
}

// Recovers the decimal that was rounded to float: 1e-5 instead of 9.99999975e-06.
double SixDigits(double value) { return std::strtod(NumberText(value).c_str(), nullptr); }

// Whether adding a constant of this shape adds one number to each of `channels` channels.
bool IsPerChannel(const OnnxTensor& tensor, std::int64_t channels, bool flat) {
  const auto elements = ElementsOf(tensor);
  if (!elements || static_cast<std::int64_t>(*elements) != channels) return false;
  const int last = tensor.dims_size() - 1, side = flat ? last : last - 2;
  return side >= 0 && tensor.dims(side) == channels;
}

}  // namespace

StatusOr<std::vector<float>> OnnxMapping::TakeBiasBehind(std::int64_t channels, bool& found) {
  found = false;
  std::vector<float> none;
  const std::string& output = node_->output(0);
  const auto readers = readers_.find(output);
  const bool is_output =
      std::ranges::any_of(graph_.output(), [&](const OnnxValue& value) { return value.name() == output; });
  if (is_output || readers == readers_.end() || readers->second.size() != 1) return none;
  const OnnxNode* reader = readers->second[0];
  if (reader->op_type() != "Add" || reader->input_size() != 2 || reader->output_size() == 0) return none;
  const auto value = values_by_name_.find(reader->input(reader->input(0) == output ? 1 : 0));
  if (value == values_by_name_.end()) return none;
  const auto* constant = std::get_if<const OnnxTensor*>(&value->second);
  if (constant == nullptr || !IsPerChannel(**constant, channels, node_->op_type() != "Conv")) return none;
  TRIBUTARY_ASSIGN_OR_RETURN(std::vector<float> bias, VectorOf(**constant, channels, "bias"));
  found = true;
  done_.insert(reader);
  return bias;
}

Status OnnxMapping::MapConv() {
  TRIBUTARY_ASSIGN_OR_RETURN(NodeIndex input, NodeAt(0));
  TRIBUTARY_ASSIGN_OR_RETURN(const OnnxTensor* tensor, WeightsAt(1, "weight"));
  const auto& sizes = tensor->dims();
  if (sizes.size() != 3 && sizes.size() != 4) {
    return Refuse("its weight has the shape " + SizesText(tensor->dims()) +
                  "; allowed: convolutions of images and signals,"
                  " with 4 or 3 sides");
  }
  Conv conv{.out_channels = sizes[0], .kernel = {sizes.size() == 4 ? sizes[2] : 1, sizes[sizes.size() - 1]}};
  TRIBUTARY_ASSIGN_OR_RETURN(const Extent stated, ExtentOf("kernel_shape", {1, conv.kernel.width}));
  TRIBUTARY_ASSIGN_OR_RETURN(conv.stride, ExtentOf("strides", {1, 1}));
  TRIBUTARY_ASSIGN_OR_RETURN(conv.dilation, ExtentOf("dilations", {1, 1}));
  conv.groups = Integer("group", 1);
  const std::int64_t channels = builder_.shape(input).channels;
  if (Find("kernel_shape") != nullptr && stated != conv.kernel)
    return Refuse("kernel_shape does not fit its weight of shape " + SizesText(tensor->dims()));
  if (conv.groups < 1 || channels % conv.groups != 0 || sizes[1] != channels / conv.groups) {
    return Refuse("its weight of shape " + SizesText(tensor->dims()) + " does not fit " +
                  std::to_string(channels) + " input channels in " + std::to_string(conv.groups) + " groups");
  }
  const auto reach = [](std::int64_t kernel, std::int64_t dilation) {
    // The graph refuses invalid values below.
    return kernel < 1 || dilation < 1 || dilation > (1 << 20) || kernel > (1 << 20)
               ? 1
               : dilation * (kernel - 1) + 1;
  };
  TRIBUTARY_ASSIGN_OR_RETURN(const Padding padding,
                             PaddingOf(input,
                                       {reach(conv.kernel.height, conv.dilation.height),
                                        reach(conv.kernel.width, conv.dilation.width)},
                                       conv.stride));
  if (padding.symmetric()) {
    conv.padding = padding.before;
  } else {
    input = Add(Pad{padding.before, padding.after}, {input}, ".pad");
  }
  LayerWeights weights;
  TRIBUTARY_ASSIGN_OR_RETURN(weights.weight, RealsOf(*tensor));
  TRIBUTARY_RETURN_IF_ERROR(In(2).status());
  conv.bias = !InputName(2).empty();
  std::string_view output = node_->output(0);
  if (conv.bias) {
    TRIBUTARY_ASSIGN_OR_RETURN(const OnnxTensor* bias, WeightsAt(2, "bias"));
    TRIBUTARY_ASSIGN_OR_RETURN(weights.bias, VectorOf(*bias, conv.out_channels, "bias"));
  } else {
    TRIBUTARY_ASSIGN_OR_RETURN(weights.bias, TakeBiasBehind(conv.out_channels, conv.bias));
    if (conv.bias) output = readers_[output][0]->output(0);
  }
  const NodeIndex node = Add(conv, {input});
  weights_[node] = std::move(weights);
  values_by_name_[output] = OnnxActivation{node};
  return OkStatus();
}

Status OnnxMapping::AddLinear(const OnnxActivation& input, std::vector<float> weight, std::int64_t out,
                              std::vector<float> bias, bool has_bias) {
  if (input.order == ValueOrder::kChannelsLast)
    return Refuse("reads values with the channels last, which are not flat");
  if (input.order == ValueOrder::kFlatChannelsLast)
    weight = ColumnsChannelsFirst(weight, input.before_flatten);
  std::string_view output = node_->output(0);
  if (!has_bias) {
    TRIBUTARY_ASSIGN_OR_RETURN(bias, TakeBiasBehind(out, has_bias));
    if (has_bias) output = readers_[output][0]->output(0);
  }
  const NodeIndex node = Add(Linear{out, has_bias}, {input.node});
  weights_[node] = LayerWeights{std::move(weight), std::move(bias), {}, {}};
  values_by_name_[output] = OnnxActivation{node};
  return OkStatus();
}

Status OnnxMapping::MapGemm() {
  TRIBUTARY_ASSIGN_OR_RETURN(const OnnxActivation input, ActivationAt(0));
  TRIBUTARY_ASSIGN_OR_RETURN(const OnnxTensor* tensor, WeightsAt(1, "weight"));
  if (Integer("transA", 0) != 0) return RefuseAttribute("transA", std::to_string(Integer("transA", 0)), "0");
  const bool transposed = Integer("transB", 0) != 0;
  const Shape shape = builder_.shape(input.node);
  if (tensor->dims_size() != 2 || tensor->dims(transposed ? 1 : 0) != shape.channels || !shape.flat) {
    return Refuse("its weight of shape " + SizesText(tensor->dims()) + (transposed ? " (transposed)" : "") +
                  " does not fit its input " + FormatShape(shape));
  }
  const std::int64_t out = tensor->dims(transposed ? 0 : 1);
  TRIBUTARY_ASSIGN_OR_RETURN(std::vector<float> weight, RealsOf(*tensor));
  if (!transposed)
    weight = Transposed(weight, static_cast<std::size_t>(shape.channels), static_cast<std::size_t>(out));
  const auto scale = [&](std::vector<float>& values, std::string_view attribute) {
    const auto factor = static_cast<float>(Real(attribute, 1));
    if (factor == 1) return;
    for (float& value : values) value *= factor;
  };
  scale(weight, "alpha");
  const bool has_bias = !InputName(2).empty();
  std::vector<float> bias;
  if (has_bias) {
    TRIBUTARY_ASSIGN_OR_RETURN(const OnnxTensor* constant, WeightsAt(2, "bias"));
    const bool scalar = ElementsOf(*constant) == std::size_t{1};
    TRIBUTARY_ASSIGN_OR_RETURN(bias, VectorOf(*constant, scalar ? 1 : out, "bias"));
    if (scalar && out >= 1 && out <= static_cast<std::int64_t>(weight.size()))
      bias.resize(static_cast<std::size_t>(out), bias[0]);
    scale(bias, "beta");
  }
  return AddLinear(input, std::move(weight), out, std::move(bias), has_bias);
}

Status OnnxMapping::MapMatMul() {
  TRIBUTARY_ASSIGN_OR_RETURN(const OnnxActivation input, ActivationAt(0));
  TRIBUTARY_ASSIGN_OR_RETURN(const OnnxTensor* tensor, WeightsAt(1, "weight"));
  const Shape shape = builder_.shape(input.node);
  if (tensor->dims_size() != 2 || tensor->dims(0) != shape.channels || !shape.flat) {
    return Refuse("its weight of shape " + SizesText(tensor->dims()) + " does not fit its input " +
                  FormatShape(shape));
  }
  TRIBUTARY_ASSIGN_OR_RETURN(const std::vector<float> weight, RealsOf(*tensor));
  const std::int64_t out = tensor->dims(1);
  return AddLinear(
      input, Transposed(weight, static_cast<std::size_t>(shape.channels), static_cast<std::size_t>(out)), out,
      {}, false);
}

Status OnnxMapping::MapBatchNorm() {
  TRIBUTARY_ASSIGN_OR_RETURN(const NodeIndex input, NodeAt(0));
  const std::int64_t channels = builder_.shape(input).channels;
  LayerWeights weights;
  std::size_t index = 1;
  for (const auto& [values, what] :
       {std::pair(&weights.weight, "scale"), std::pair(&weights.bias, "shift"),
        std::pair(&weights.mean, "mean"), std::pair(&weights.variance, "variance")}) {
    TRIBUTARY_ASSIGN_OR_RETURN(const OnnxTensor* tensor, WeightsAt(index++, what));
    TRIBUTARY_ASSIGN_OR_RETURN(*values, VectorOf(*tensor, channels, what));
  }
  // ONNX's momentum is the weight of the old value, ours that of the new value.
  const NodeIndex node = Add(BatchNorm{.epsilon = SixDigits(Real("epsilon", 1e-5)),
                                       .momentum = SixDigits(1 - SixDigits(Real("momentum", 0.9)))},
                             {input});
  weights_[node] = std::move(weights);
  return Give(node);
}

Status OnnxMapping::MapGroupNorm() {
  TRIBUTARY_ASSIGN_OR_RETURN(const NodeIndex input, NodeAt(0));
  const std::int64_t channels = builder_.shape(input).channels;
  TRIBUTARY_ASSIGN_OR_RETURN(const OnnxTensor* scale, WeightsAt(1, "scale"));
  TRIBUTARY_ASSIGN_OR_RETURN(const OnnxTensor* shift, WeightsAt(2, "shift"));
  LayerWeights weights;
  TRIBUTARY_ASSIGN_OR_RETURN(weights.weight, VectorOf(*scale, channels, "scale"));
  TRIBUTARY_ASSIGN_OR_RETURN(weights.bias, VectorOf(*shift, channels, "shift"));
  const NodeIndex node = Add(GroupNorm{Integer("num_groups", 0), SixDigits(Real("epsilon", 1e-5))}, {input});
  weights_[node] = std::move(weights);
  return Give(node);
}

Status OnnxMapping::MapRelu() {
  TRIBUTARY_ASSIGN_OR_RETURN(OnnxActivation input, ActivationAt(0));
  input.node = Add(Relu{}, {input.node});
  return Give(input);
}

StatusOr<std::optional<double>> OnnxMapping::ScalarAt(std::size_t index) {
  TRIBUTARY_ASSIGN_OR_RETURN(const Mapped* value, In(index));
  if (value == nullptr) return std::optional<double>();
  TRIBUTARY_ASSIGN_OR_RETURN(const OnnxTensor* tensor, WeightsAt(index, "input " + std::to_string(index)));
  TRIBUTARY_ASSIGN_OR_RETURN(const std::vector<float> values,
                             VectorOf(*tensor, 1, "input " + std::to_string(index)));
  return std::optional(static_cast<double>(values[0]));
}

Status OnnxMapping::MapClip() {
  TRIBUTARY_ASSIGN_OR_RETURN(OnnxActivation input, ActivationAt(0));
  constexpr double kNone = std::numeric_limits<float>::max();
  // The bounds are attributes in older operator sets and inputs in newer ones.
  TRIBUTARY_ASSIGN_OR_RETURN(const auto low, ScalarAt(1));
  TRIBUTARY_ASSIGN_OR_RETURN(const auto high, ScalarAt(2));
  const double least = low.value_or(Real("min", -kNone));
  const double most = high.value_or(Real("max", kNone));
  if (least != 0 || (most != 6 && most < kNone)) {
    return Refuse("keeps values between " + NumberText(least) + " and " + NumberText(most) +
                  "; allowed: 0 and 6 (ReLU6), or 0 and no upper bound (ReLU)");
  }
  input.node = most == 6 ? Add(Relu6{}, {input.node}) : Add(Relu{}, {input.node});
  return Give(input);
}

Status OnnxMapping::MapDropout() {
  TRIBUTARY_ASSIGN_OR_RETURN(OnnxActivation input, ActivationAt(0));
  TRIBUTARY_ASSIGN_OR_RETURN(const auto ratio, ScalarAt(1));
  const double rate = SixDigits(ratio.value_or(Real("ratio", 0.5)));
  if (rate != 0) input.node = Add(Dropout{rate}, {input.node});
  return Give(input);
}

}  // namespace tributary::inline onnx
