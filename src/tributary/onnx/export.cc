#include <algorithm>

#include "tributary/base/file.h"
#include "tributary/onnx/document.h"
#include "tributary/onnx/network_file.h"

namespace tributary::inline onnx {
namespace {

constexpr std::int64_t kIrVersion = 7;
constexpr std::int64_t kOpset = 13, kOpsetOfGroupNorm = 21;
constexpr std::int64_t kIrOfGroupNorm = 10;
constexpr std::uint64_t kLargestMessage = 2'147'483'647;
constexpr const char* kInputName = "input";
constexpr const char* kOutputName = "scores";

void WriteValue(const char* name, std::initializer_list<std::int64_t> sizes, OnnxValue& out) {
  out.set_name(name);
  auto& tensor = *out.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(OnnxTensor::FLOAT);
  tensor.mutable_shape()->add_dim()->set_dim_param("batch");
  for (const std::int64_t size : sizes) tensor.mutable_shape()->add_dim()->set_dim_value(size);
}

// Writes one node of a network into a file's graph, with its constants and the names of its weights.
class NodeWriter {
 public:
  NodeWriter(const Graph& graph, NodeIndex index, OnnxGraph& out)
      : name_(graph.node(index).name), graph_(out), node_(*out.add_node()) {
    const auto output = [&](NodeIndex at) {
      if (at == 0) return std::string(kInputName);
      return at + 1 == graph.size() ? kOutputName : graph.node(at).name + ":0";  // not the name of a weight
    };
    for (const NodeIndex input : graph.node(index).inputs) node_.add_input(output(input));
    node_.add_output(output(index));
    node_.set_name(name_);
  }

  void Write(const Input&) {}
  void Write(const Conv& op) {
    Weights("Conv", op.bias ? 2 : 1).Sides("kernel_shape", op.kernel).Sides("strides", op.stride);
    Pads(op.padding).Sides("dilations", op.dilation).Integer("group", op.groups);
  }
  void Write(const Pad& op) {
    Kind("Pad").Constant<std::int64_t>(
        ":pads", {0, 0, op.before.height, op.before.width, 0, 0, op.after.height, op.after.width});
  }
  void Write(const BatchNorm& op) {
    Weights("BatchNormalization", 4).Real("epsilon", op.epsilon).Real("momentum", 1 - op.momentum);
  }
  void Write(const GroupNorm& op) {
    Weights("GroupNormalization", 2).Integer("num_groups", op.groups).Real("epsilon", op.epsilon);
  }
  void Write(const Relu&) { Kind("Relu"); }
  void Write(const Relu6&) { Kind("Clip").Constant<float>(":min", {0}).Constant<float>(":max", {6}); }
  void Write(const MaxPool& op) { Window("MaxPool", op); }
  void Write(const AvgPool& op) {
    Window("AveragePool", op).Integer("count_include_pad", op.count_padding ? 1 : 0);
  }
  void Write(const GlobalAvgPool&) { Kind("GlobalAveragePool"); }
  void Write(const Linear& op) { Weights("Gemm", op.bias ? 2 : 1).Integer("transB", 1); }
  void Write(const Add&) { Kind(node_.input_size() == 2 ? "Add" : "Sum"); }
  void Write(const Concat&) { Kind("Concat").Integer("axis", 1); }
  void Write(const Flatten&) { Kind("Flatten").Integer("axis", 1); }
  void Write(const Dropout& op) { Kind("Dropout").Constant<float>(":ratio", {static_cast<float>(op.rate)}); }

 private:
  NodeWriter& Kind(const char* operation) {
    node_.set_op_type(operation);
    return *this;
  }
  // The first `count` weights of a layer.
  NodeWriter& Weights(const char* operation, int count) {
    constexpr const char* kSuffixes[] = {".weight", ".bias", ".running_mean", ".running_var"};
    for (int i = 0; i < count; ++i) node_.add_input(name_ + kSuffixes[i]);
    return Kind(operation);
  }
  template <typename Pool>
  NodeWriter& Window(const char* operation, const Pool& op) {
    Kind(operation).Sides("kernel_shape", op.kernel).Sides("strides", op.stride);
    return Pads(op.padding).Integer("ceil_mode", op.round_up ? 1 : 0);
  }

  OnnxAttribute& Attribute(const char* name, OnnxAttribute::AttributeType type) {
    OnnxAttribute& attribute = *node_.add_attribute();
    attribute.set_name(name);
    attribute.set_type(type);
    return attribute;
  }
  NodeWriter& Integer(const char* name, std::int64_t value) {
    Attribute(name, OnnxAttribute::INT).set_i(value);
    return *this;
  }
  NodeWriter& Real(const char* name, double value) {
    Attribute(name, OnnxAttribute::FLOAT).set_f(static_cast<float>(value));
    return *this;
  }
  NodeWriter& Integers(const char* name, std::initializer_list<std::int64_t> values) {
    Attribute(name, OnnxAttribute::INTS).mutable_ints()->Add(values.begin(), values.end());
    return *this;
  }
  NodeWriter& Sides(const char* name, const Extent& extent) {
    return Integers(name, {extent.height, extent.width});
  }
  NodeWriter& Pads(const Extent& padding) {
    return Integers("pads", {padding.height, padding.width, padding.height, padding.width});
  }
  // Adds an input that is a constant real number, or a list of integers.
  template <typename Value>
  NodeWriter& Constant(const char* suffix, std::initializer_list<Value> values) {
    constexpr bool kReal = std::is_same_v<Value, float>;
    OnnxTensor& tensor = *graph_.add_initializer();
    tensor.set_name(name_ + suffix);
    tensor.set_data_type(kReal ? OnnxTensor::FLOAT : OnnxTensor::INT64);
    if (!kReal) tensor.add_dims(static_cast<std::int64_t>(values.size()));
    tensor.set_raw_data(values.begin(), values.size() * sizeof(Value));
    node_.add_input(tensor.name());
    return *this;
  }

  const std::string& name_;
  OnnxGraph& graph_;
  OnnxNode& node_;
};

void WriteWeights(const Layout& layout, std::span<const float> memory, OnnxGraph& out) {
  for (const Layout::Slot& slot : layout.slots) {
    const auto values = memory.subspan(slot.segment.offset, slot.segment.count);
    OnnxTensor& tensor = *out.add_initializer();
    tensor.set_name(slot.name);
    tensor.set_data_type(OnnxTensor::FLOAT);
    tensor.mutable_dims()->Add(slot.tensor.shape.begin(), slot.tensor.shape.end());
    tensor.set_raw_data(values.data(), values.size_bytes());
  }
}

}  // namespace

Status WriteOnnx(const std::filesystem::path& path, const Model& model, std::span<const float> parameters,
                 std::span<const float> statistics, const Metadata& metadata) {
  TRIBUTARY_CHECK(parameters.size() == model.parameters.size && statistics.size() == model.statistics.size);
  const bool group_norms = std::ranges::any_of(model.graph.nodes(), [](const Node& node) {
    return std::holds_alternative<GroupNorm>(node.operation);
  });
  OnnxModel file;
  file.set_ir_version(group_norms ? kIrOfGroupNorm : kIrVersion);
  file.set_producer_name("tributary");
  auto& operators = *file.add_opset_import();
  operators.set_domain("");
  operators.set_version(group_norms ? kOpsetOfGroupNorm : kOpset);
  for (const auto& [key, value] : metadata) {
    auto& entry = *file.add_metadata_props();
    entry.set_key(key);
    entry.set_value(value);
  }
  const Graph& graph = model.graph;
  OnnxGraph& out = *file.mutable_graph();
  out.set_name(graph.name());
  const Shape& input = graph.input_shape();
  WriteValue(kInputName, {input.channels, input.height, input.width}, *out.add_input());
  WriteValue(kOutputName, {graph.classes()}, *out.add_output());
  for (NodeIndex i = 1; i < graph.size(); ++i) {
    NodeWriter writer(graph, i, out);
    std::visit([&](const auto& op) { writer.Write(op); }, graph.node(i).operation);
  }
  WriteWeights(model.parameters, parameters, out);
  WriteWeights(model.statistics, statistics, out);
  if (model.constant_values) WriteWeights(model.constants, model.constant_values->span(), out);
  const std::uint64_t size = file.ByteSizeLong();
  if (size > kLargestMessage) {
    return ResourceExhausted("cannot write " + path.string() + ": it would take " + std::to_string(size) +
                             " bytes, and an ONNX file takes at most 2 GB");
  }
  return WriteFileAtomically(path, file.SerializeAsString());
}

}  // namespace tributary::inline onnx
