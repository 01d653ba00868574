#include "tributary/onnx/export.h"

#include <algorithm>
#include <deque>

#include "tributary/base/file.h"
#include "tributary/base/wire_writer.h"
#include "tributary/onnx/document.h"

namespace tributary::inline onnx {
namespace {

constexpr std::int64_t kIrVersion = 7;
constexpr std::int64_t kOpset = 13, kOpsetOfGroupNorm = 21;
constexpr std::int64_t kIrOfGroupNorm = 10;
constexpr std::uint64_t kLargestMessage = 2'147'483'647;
constexpr const char* kInputName = "input";
constexpr const char* kOutputName = "scores";

// The kinds of attributes, as the format numbers them.
constexpr std::int64_t kRealAttribute = 1, kIntegerAttribute = 2, kIntegersAttribute = 7;

// One node of the file.
class NodeWriter {
 public:
  NodeWriter(const std::string& name, std::string_view operation, const std::string& output)
      : name_(name), operation_(operation), output_(output) {}

  NodeWriter& In(const std::string& value) {
    message_.Text(1, value);
    return *this;
  }
  NodeWriter& Integer(std::string_view name, std::int64_t value) {
    attributes_.Message(5, WireWriter().Text(1, name).Number(3, value).Number(20, kIntegerAttribute));
    return *this;
  }
  NodeWriter& Real(std::string_view name, double value) {
    attributes_.Message(
        5, WireWriter().Text(1, name).Real(2, static_cast<float>(value)).Number(20, kRealAttribute));
    return *this;
  }
  NodeWriter& Integers(std::string_view name, std::initializer_list<std::int64_t> values) {
    WireWriter attribute;
    attribute.Text(1, name);
    for (const std::int64_t value : values) attribute.Number(8, value);
    attributes_.Message(5, attribute.Number(20, kIntegersAttribute));
    return *this;
  }
  NodeWriter& Integers(std::string_view name, const Extent& extent) {
    return Integers(name, {extent.height, extent.width});
  }
  NodeWriter& Pads(const Extent& padding) {
    return Integers("pads", {padding.height, padding.width, padding.height, padding.width});
  }

  std::string Bytes() const {
    WireWriter end;
    end.Text(2, output_).Text(3, name_).Text(4, operation_);
    return message_.bytes() + end.bytes() + attributes_.bytes();
  }

 private:
  std::string name_, operation_, output_;
  WireWriter message_, attributes_;
};

// The fields of a graph one after the other, with the weights left where they are.
class GraphWriter {
 public:
  explicit GraphWriter(const Graph& graph) : graph_(graph) {}

  void Node(NodeIndex index) {
    const tributary::Node& node = graph_.node(index);
    std::visit([&](const auto& op) { Write(index, node, op); }, node.operation);
  }

  void Weights(const Layout& layout, std::span<const float> memory) {
    for (const Layout::Slot& slot : layout.slots) {
      Tensor(slot.name, slot.tensor.shape, OnnxTensor::kFloat,
             std::as_bytes(memory.subspan(slot.segment.offset, slot.segment.count)));
    }
  }

  // The whole, as the field of the model that holds the graph.
  std::vector<ByteSpan> Finish(WireWriter before) {
    WireWriter end;
    end.Text(2, graph_.name());
    const Shape& input = graph_.input_shape();
    end.Message(11, Value(kInputName, {input.channels, input.height, input.width}));
    end.Message(12, Value(kOutputName, {graph_.classes()}));
    Own(end.bytes());
    std::uint64_t size = 0;
    for (const ByteSpan piece : pieces_) size += piece.size();
    before.Begin(7, size);
    texts_.push_back(before.bytes());
    pieces_.insert(pieces_.begin(), std::as_bytes(std::span(texts_.back())));
    return pieces_;
  }

 private:
  std::string Output(NodeIndex index) const {
    if (index == 0) return kInputName;
    return index + 1 == graph_.size() ? kOutputName
                                      : graph_.node(index).name + ":0";  // Like no weight's name.
  }
  std::string In(const tributary::Node& node, std::size_t which = 0) const {
    return Output(node.inputs[which]);
  }
  NodeWriter Of(NodeIndex index, std::string_view operation) const {
    const tributary::Node& node = graph_.node(index);
    NodeWriter writer(node.name, operation, Output(index));
    for (std::size_t i = 0; i < node.inputs.size(); ++i) writer.In(In(node, i));
    return writer;
  }
  void Put(const NodeWriter& node) { Own(WireWriter().Text(1, node.Bytes()).bytes()); }

  void Write(NodeIndex, const tributary::Node&, const Input&) {}
  void Write(NodeIndex index, const tributary::Node& node, const Conv& op) {
    NodeWriter writer = Of(index, "Conv");
    writer.In(node.name + ".weight");
    if (op.bias) writer.In(node.name + ".bias");
    Put(writer.Integers("kernel_shape", op.kernel)
            .Integers("strides", op.stride)
            .Pads(op.padding)
            .Integers("dilations", op.dilation)
            .Integer("group", op.groups));
  }
  void Write(NodeIndex index, const tributary::Node& node, const Pad& op) {
    const std::string pads = node.name + ":pads";
    const std::vector<std::int64_t> sides = {0, 0, op.before.height, op.before.width,
                                             0, 0, op.after.height,  op.after.width};
    Constant(pads, {8}, OnnxTensor::kInt64, std::as_bytes(std::span(sides)));
    Put(Of(index, "Pad").In(pads));
  }
  void Write(NodeIndex index, const tributary::Node& node, const BatchNorm& op) {
    NodeWriter writer = Of(index, "BatchNormalization");
    for (const char* suffix : {".weight", ".bias", ".running_mean", ".running_var"})
      writer.In(node.name + suffix);
    Put(writer.Real("epsilon", op.epsilon).Real("momentum", 1 - op.momentum));
  }
  void Write(NodeIndex index, const tributary::Node& node, const GroupNorm& op) {
    Put(Of(index, "GroupNormalization")
            .In(node.name + ".weight")
            .In(node.name + ".bias")
            .Integer("num_groups", op.groups)
            .Real("epsilon", op.epsilon));
  }
  void Write(NodeIndex index, const tributary::Node&, const Relu&) { Put(Of(index, "Relu")); }
  void Write(NodeIndex index, const tributary::Node& node, const Relu6&) {
    const std::string low = node.name + ":min", high = node.name + ":max";
    const float bounds[] = {0, 6};
    Constant(low, {}, OnnxTensor::kFloat, std::as_bytes(std::span(bounds, 1)));
    Constant(high, {}, OnnxTensor::kFloat, std::as_bytes(std::span(bounds + 1, 1)));
    Put(Of(index, "Clip").In(low).In(high));
  }
  void Write(NodeIndex index, const tributary::Node&, const MaxPool& op) {
    Put(Of(index, "MaxPool")
            .Integers("kernel_shape", op.kernel)
            .Integers("strides", op.stride)
            .Pads(op.padding)
            .Integer("ceil_mode", op.round_up ? 1 : 0));
  }
  void Write(NodeIndex index, const tributary::Node&, const AvgPool& op) {
    Put(Of(index, "AveragePool")
            .Integers("kernel_shape", op.kernel)
            .Integers("strides", op.stride)
            .Pads(op.padding)
            .Integer("ceil_mode", op.round_up ? 1 : 0)
            .Integer("count_include_pad", op.count_padding ? 1 : 0));
  }
  void Write(NodeIndex index, const tributary::Node&, const GlobalAvgPool&) {
    Put(Of(index, "GlobalAveragePool"));
  }
  void Write(NodeIndex index, const tributary::Node& node, const Linear& op) {
    NodeWriter writer = Of(index, "Gemm");
    writer.In(node.name + ".weight");
    if (op.bias) writer.In(node.name + ".bias");
    Put(writer.Integer("transB", 1));
  }
  void Write(NodeIndex index, const tributary::Node& node, const Add&) {
    Put(Of(index, node.inputs.size() == 2 ? "Add" : "Sum"));
  }
  void Write(NodeIndex index, const tributary::Node&, const Concat&) {
    Put(Of(index, "Concat").Integer("axis", 1));
  }
  void Write(NodeIndex index, const tributary::Node&, const Flatten&) {
    Put(Of(index, "Flatten").Integer("axis", 1));
  }
  void Write(NodeIndex index, const tributary::Node& node, const Dropout& op) {
    const std::string ratio = node.name + ":ratio";
    const auto rate = static_cast<float>(op.rate);
    Constant(ratio, {}, OnnxTensor::kFloat, std::as_bytes(std::span(&rate, 1)));
    Put(Of(index, "Dropout").In(ratio));
  }

  static WireWriter Value(const std::string& name, std::initializer_list<std::int64_t> sizes) {
    WireWriter shape;
    shape.Message(1, WireWriter().Text(2, "batch"));
    for (const std::int64_t size : sizes) shape.Message(1, WireWriter().Number(1, size));
    WireWriter tensor;
    tensor.Number(1, OnnxTensor::kFloat).Message(2, shape);
    return WireWriter().Text(1, name).Message(2, WireWriter().Message(1, tensor));
  }

  void Tensor(const std::string& name, const std::vector<std::int64_t>& sizes, std::int64_t type,
              ByteSpan values) {
    WireWriter tensor;
    for (const std::int64_t size : sizes) tensor.Number(1, size);
    tensor.Number(2, type).Text(8, name).Begin(9, values.size());
    Own(WireWriter().Begin(5, tensor.bytes().size() + values.size()).bytes() + tensor.bytes());
    pieces_.push_back(values);
  }
  void Constant(const std::string& name, const std::vector<std::int64_t>& sizes, std::int64_t type,
                ByteSpan values) {
    texts_.emplace_back(reinterpret_cast<const char*>(values.data()), values.size());
    Tensor(name, sizes, type, std::as_bytes(std::span(texts_.back())));
  }
  void Own(std::string text) {
    texts_.push_back(std::move(text));
    pieces_.push_back(std::as_bytes(std::span(texts_.back())));
  }

  const Graph& graph_;
  std::deque<std::string> texts_;  // what pieces look into, apart from the weights
  std::vector<ByteSpan> pieces_;
};

}  // namespace

Status WriteOnnx(const std::filesystem::path& path, const Model& model, std::span<const float> parameters,
                 std::span<const float> statistics, const Metadata& metadata) {
  TRIBUTARY_CHECK(parameters.size() == model.parameters.size && statistics.size() == model.statistics.size);
  const bool group_norms = std::ranges::any_of(model.graph.nodes(), [](const Node& node) {
    return std::holds_alternative<GroupNorm>(node.operation);
  });
  WireWriter head;
  head.Number(1, group_norms ? kIrOfGroupNorm : kIrVersion).Text(2, "tributary");
  head.Message(8, WireWriter().Text(1, "").Number(2, group_norms ? kOpsetOfGroupNorm : kOpset));
  for (const auto& [key, value] : metadata) head.Message(14, WireWriter().Text(1, key).Text(2, value));
  GraphWriter writer(model.graph);
  for (NodeIndex i = 1; i < model.graph.size(); ++i) writer.Node(i);
  writer.Weights(model.parameters, parameters);
  writer.Weights(model.statistics, statistics);
  if (model.constant_values) writer.Weights(model.constants, model.constant_values->span());
  const std::vector<ByteSpan> pieces = writer.Finish(std::move(head));
  std::uint64_t size = 0;
  for (const ByteSpan piece : pieces) size += piece.size();
  if (size > kLargestMessage) {
    return ResourceExhausted("cannot write " + path.string() + ": it would take " + std::to_string(size) +
                             " bytes, and an ONNX file takes at most 2 GB");
  }
  return WriteFileAtomically(path, pieces);
}

}  // namespace tributary::inline onnx
