#include "tributary/onnx/mapping.h"

#include <algorithm>

#include "tributary/model/safetensors_header.h"
#include "tributary/onnx/network_file.h"
#include "tributary/onnx/node_names.h"

namespace tributary::inline onnx {

OnnxMapping::OnnxMapping(const OnnxGraph& graph, OnnxTensorValues& values, std::string name, Shape input)
    : graph_(graph), values_(values), builder_(std::move(name), input) {
  for (const OnnxNode& node : graph.node()) {
    for (const std::string& name_read : node.input()) readers_[name_read].push_back(&node);
  }
}

void OnnxMapping::SetInput(std::string_view name, ValueOrder order, bool flat) {
  values_by_name_[name] = OnnxActivation{flat ? builder_.Add("input.flatten", Flatten{}, {0}) : 0, order};
}

const std::map<std::string_view, OnnxMapping::Handler>& OnnxMapping::Handlers() {
  static const std::map<std::string_view, Handler> handlers = {
      {"Add", &OnnxMapping::MapAdd},
      {"AveragePool", &OnnxMapping::MapAveragePool},
      {"BatchNormalization", &OnnxMapping::MapBatchNorm},
      {"Clip", &OnnxMapping::MapClip},
      {"Concat", &OnnxMapping::MapConcat},
      {"Constant", &OnnxMapping::MapConstant},
      {"Conv", &OnnxMapping::MapConv},
      {"Dropout", &OnnxMapping::MapDropout},
      {"Flatten", &OnnxMapping::MapFlatten},
      {"Gather", &OnnxMapping::MapGather},
      {"Gemm", &OnnxMapping::MapGemm},
      {"GlobalAveragePool", &OnnxMapping::MapGlobalAveragePool},
      {"GroupNormalization", &OnnxMapping::MapGroupNorm},
      {"Identity", &OnnxMapping::MapIdentity},
      {"LogSoftmax", &OnnxMapping::MapSoftmax},
      {"MatMul", &OnnxMapping::MapMatMul},
      {"MaxPool", &OnnxMapping::MapMaxPool},
      {"Pad", &OnnxMapping::MapPad},
      {"ReduceMean", &OnnxMapping::MapReduceMean},
      {"Relu", &OnnxMapping::MapRelu},
      {"Reshape", &OnnxMapping::MapReshape},
      {"Shape", &OnnxMapping::MapShape},
      {"Softmax", &OnnxMapping::MapSoftmax},
      {"Squeeze", &OnnxMapping::MapSqueeze},
      {"Sum", &OnnxMapping::MapAdd},
      {"Transpose", &OnnxMapping::MapTranspose},
      {"Unsqueeze", &OnnxMapping::MapUnsqueeze},
  };
  return handlers;
}

std::string OnnxOperators() {
  std::string text;
  for (const auto& [name, handler] : OnnxMapping::Handlers())
    text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

Status OnnxMapping::Map(const OnnxNode& node, const std::string& layer) {
  if (done_.contains(&node)) return OkStatus();
  node_ = &node;
  layer_ = layer;
  const bool standard = node.domain().empty() || node.domain() == "ai.onnx";
  const auto handler = Handlers().find(node.op_type());
  if (!standard || handler == Handlers().end()) {
    return Refuse(std::string(standard ? "" : "an operator of " + QuoteName(node.domain()) + ", ") +
                  "not one of the operators that can be imported: " + OnnxOperators());
  }
  if (node.output_size() == 0 || node.output(0).empty()) return Refuse("has no output");
  TRIBUTARY_RETURN_IF_ERROR((this->*handler->second)());
  return builder_.status();
}

StatusOr<NodeIndex> OnnxMapping::Output(std::string_view name) {
  const auto found = values_by_name_.find(name);
  if (found == values_by_name_.end()) return InvalidArgument("no node gives its output " + QuoteName(name));
  const auto* activation = std::get_if<OnnxActivation>(&found->second);
  if (activation == nullptr)
    return InvalidArgument("its output " + QuoteName(name) + " does not depend on its input");
  if (activation->order != ValueOrder::kChannelsFirst)
    return InvalidArgument("its output " + QuoteName(name) + " must be one score for each class");
  return activation->node;
}

StatusOr<Graph> OnnxMapping::Build(NodeIndex last) {
  TRIBUTARY_ASSIGN_OR_RETURN(Graph graph, std::move(builder_).Build());
  if (last + 1 == graph.size()) return graph;
  return InvalidArgument("its output comes from node '" + graph.node(last).name + "', and '" +
                         graph.nodes().back().name + "' comes after it");
}

Status OnnxMapping::Refuse(const std::string& reason) const {
  return InvalidArgument("node " + QuoteName(node_->name().empty() ? layer_ : node_->name()) + " (" +
                         PlainLayerName(node_->op_type()) + "): " + reason);
}

Status OnnxMapping::RefuseAttribute(std::string_view attribute, const std::string& found,
                                    const std::string& allowed) const {
  return Refuse(std::string(attribute) + " is " + found + "; allowed: " + allowed);
}

std::string_view OnnxMapping::InputName(std::size_t index) const {
  return index < InputCount() ? std::string_view(node_->input(static_cast<int>(index))) : std::string_view();
}

StatusOr<const OnnxMapping::Mapped*> OnnxMapping::In(std::size_t index) const {
  const std::string_view name = InputName(index);
  if (name.empty()) return static_cast<const Mapped*>(nullptr);
  const auto found = values_by_name_.find(name);
  if (found == values_by_name_.end())
    return Refuse("reads " + QuoteName(name) + ", which no node before it gives");
  return &found->second;
}

StatusOr<OnnxActivation> OnnxMapping::ActivationAt(std::size_t index) const {
  TRIBUTARY_ASSIGN_OR_RETURN(const Mapped* value, In(index));
  if (value == nullptr) return Refuse("has no input " + std::to_string(index));
  if (const auto* activation = std::get_if<OnnxActivation>(value)) return *activation;
  return Refuse("input " + std::to_string(index) + ", " + QuoteName(InputName(index)) +
                ", is a constant; it must come from the network's input");
}

StatusOr<NodeIndex> OnnxMapping::NodeAt(std::size_t index) const {
  TRIBUTARY_ASSIGN_OR_RETURN(const OnnxActivation activation, ActivationAt(index));
  if (activation.order == ValueOrder::kChannelsFirst) return activation.node;
  return Refuse(
      "reads values with the channels last; allowed: channels first, as after a Transpose by [0, 3, 1, 2]"
      " (tf2onnx: --inputs-as-nchw)");
}

const OnnxTensor* OnnxMapping::ConstantAt(std::size_t index) const {
  const auto value = In(index);
  if (!value.ok() || *value == nullptr) return nullptr;
  const auto* constant = std::get_if<const OnnxTensor*>(*value);
  return constant == nullptr ? nullptr : *constant;
}

StatusOr<const OnnxTensor*> OnnxMapping::WeightsAt(std::size_t index, std::string_view what) const {
  TRIBUTARY_RETURN_IF_ERROR(In(index).status());
  if (const OnnxTensor* tensor = ConstantAt(index)) return tensor;
  return Refuse("its " + std::string(what) + " must be a constant of the file, and is " +
                (InputName(index).empty() ? "missing" : "computed"));
}

StatusOr<OnnxShapeNumbers> OnnxMapping::NumbersAt(std::size_t index) {
  TRIBUTARY_ASSIGN_OR_RETURN(const Mapped* value, In(index));
  if (value != nullptr) {
    if (const auto* numbers = std::get_if<OnnxShapeNumbers>(value)) return *numbers;
    if (const auto* tensor = std::get_if<const OnnxTensor*>(value)) {
      auto integers = values_.Integers(**tensor);
      if (!integers.ok()) return Refuse(integers.status().message());
      return integers;
    }
  }
  return Refuse("input " + std::to_string(index) +
                " must be whole numbers that do not depend on the samples");
}

StatusOr<std::vector<float>> OnnxMapping::RealsOf(const OnnxTensor& tensor) {
  auto reals = values_.Reals(tensor);
  return reals.ok() ? std::move(reals) : Refuse(reals.status().message());
}

StatusOr<std::vector<float>> OnnxMapping::VectorOf(const OnnxTensor& tensor, std::int64_t size,
                                                   std::string_view what) {
  TRIBUTARY_ASSIGN_OR_RETURN(std::vector<float> reals, RealsOf(tensor));
  if (static_cast<std::int64_t>(reals.size()) != size) {
    return Refuse("its " + std::string(what) + " has the shape " + SizesText(tensor.dims()) + "; expected " +
                  std::to_string(size) + " values");
  }
  return reals;
}

const OnnxAttribute* OnnxMapping::Find(std::string_view name) const {
  const auto found = std::ranges::find(node_->attribute(), name, &OnnxAttribute::name);
  return found == node_->attribute().end() ? nullptr : &*found;
}

std::int64_t OnnxMapping::Integer(std::string_view name, std::int64_t otherwise) const {
  const OnnxAttribute* attribute = Find(name);
  return attribute == nullptr ? otherwise : attribute->i();
}

double OnnxMapping::Real(std::string_view name, double otherwise) const {
  const OnnxAttribute* attribute = Find(name);
  return attribute == nullptr ? otherwise : static_cast<double>(attribute->f());
}

std::string_view OnnxMapping::Text(std::string_view name, std::string_view otherwise) const {
  const OnnxAttribute* attribute = Find(name);
  return attribute == nullptr ? otherwise : std::string_view(attribute->s());
}

std::vector<std::int64_t> OnnxMapping::Integers(std::string_view name) const {
  const OnnxAttribute* attribute = Find(name);
  if (attribute == nullptr) return {};
  return {attribute->ints().begin(), attribute->ints().end()};
}

StatusOr<Extent> OnnxMapping::ExtentOf(std::string_view name, Extent otherwise) const {
  if (Find(name) == nullptr) return otherwise;
  const std::vector<std::int64_t> sides = Integers(name);
  if (sides.size() == 1) return Extent{otherwise.height, sides[0]};
  if (sides.size() == 2) return Extent{sides[0], sides[1]};
  return RefuseAttribute(name, "a list of " + std::to_string(sides.size()),
                         "one number for height and one for width");
}

Status OnnxMapping::Give(Mapped value) {
  values_by_name_[node_->output(0)] = std::move(value);
  return OkStatus();
}

NodeIndex OnnxMapping::Add(Operation operation, std::vector<NodeIndex> inputs, std::string_view suffix) {
  return builder_.Add(layer_ + std::string(suffix), std::move(operation), std::move(inputs));
}

}  // namespace tributary::inline onnx
