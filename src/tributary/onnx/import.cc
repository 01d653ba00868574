#include <algorithm>
#include <array>
#include <set>

#include "tributary/model/graph.h"
#include "tributary/model/safetensors_header.h"
#include "tributary/onnx/mapping.h"
#include "tributary/onnx/network_file.h"
#include "tributary/onnx/node_names.h"

namespace tributary::inline onnx {
namespace {

constexpr Bytes kLargestOnnxFile{2'147'483'647};  // protobuf's limit for messages
constexpr std::int64_t kOldestOpset = 7;
constexpr std::int64_t kLongestSide = 65'536;

using OnnxValues = google::protobuf::RepeatedPtrField<OnnxValue>;

// The only value that is not a weight: older files also list weights as inputs.
StatusOr<const OnnxValue*> OnlyOne(const OnnxValues& values, const std::set<std::string_view>& weights,
                                   std::string_view what, std::string_view allowed) {
  const OnnxValue* last = nullptr;
  std::size_t count = 0;
  std::string names;
  for (const OnnxValue& value : values) {
    if (weights.contains(value.name())) continue;
    last = &value;
    ++count;
    if (names.ends_with("…")) continue;
    names += (names.empty() ? ": " : ", ") + (names.size() > 200 ? "…" : QuoteName(value.name()));
  }
  if (count == 1) return last;
  return InvalidArgument("it has " + std::to_string(count) + " " + std::string(what) + names +
                         "; allowed: " + std::string(allowed));
}

// Which nodes the output depends on, in the file's order.
std::vector<bool> NeededNodes(const OnnxGraph& graph, std::string_view output) {
  std::set<std::string_view> needed = {output};
  std::vector<bool> result(static_cast<std::size_t>(graph.node_size()), false);
  for (std::size_t i = result.size(); i-- > 0;) {
    const OnnxNode& node = graph.node(static_cast<int>(i));
    result[i] = std::ranges::any_of(
        node.output(), [&](const std::string& name) { return !name.empty() && needed.contains(name); });
    if (result[i]) needed.insert(node.input().begin(), node.input().end());
  }
  return result;
}

bool IsTurnedAtOnce(const OnnxGraph& graph, const std::string& input) {
  bool read = false;
  for (const OnnxNode& node : graph.node()) {
    if (std::ranges::find(node.input(), input) == node.input().end()) continue;
    read = true;
    const auto perm = std::ranges::find(node.attribute(), "perm", &OnnxAttribute::name);
    const bool turns = node.op_type() == "Transpose" && perm != node.attribute().end() &&
                       std::ranges::equal(perm->ints(), std::array{0, 3, 1, 2});
    if (!turns) return false;
  }
  return read;
}

struct InputForm {
  Shape shape;
  ValueOrder order = ValueOrder::kChannelsFirst;
  bool flat = false;
};

StatusOr<InputForm> FormOf(const OnnxGraph& graph, const OnnxValue& input,
                           const std::optional<Shape>& given) {
  InputForm form;
  const std::vector<std::int64_t> sizes = SizesOf(input);
  const bool has_shape = input.type().tensor_type().has_shape();
  const std::string found =
      "its input " + QuoteName(input.name()) + " has the shape " + (has_shape ? SizesText(sizes, "?") : "?");
  if (sizes.size() == 4 && IsTurnedAtOnce(graph, input.name())) {
    form.order = ValueOrder::kChannelsLast;
    form.shape = {sizes[3], sizes[1], sizes[2]};
  } else if (sizes.size() == 4) {
    form.shape = {sizes[1], sizes[2], sizes[3]};
  } else if (sizes.size() == 3) {
    form.shape = {sizes[1], 1, sizes[2]};
  } else if (sizes.size() == 2) {
    form.shape = {1, 1, sizes[1]};
    form.flat = true;
  } else {
    return InvalidArgument(
        found + "; allowed: [batch, channels, height, width], [batch, channels, length] or [batch, columns]");
  }
  const std::int64_t channels = form.shape.channels;
  if (given) {
    if (channels > 0 && given->channels != channels)
      return InvalidArgument(found + ", which samples of " + FormatShape(*given) + " do not fit");
    form.shape = *given;
  }
  const auto in_range = [](std::int64_t side) { return side >= 1 && side <= kLongestSide; };
  if (!in_range(form.shape.channels) || !in_range(form.shape.height) || !in_range(form.shape.width))
    return InvalidArgument(found + ", which leaves the shape of a sample open; give it with --input CxHxW");
  return form;
}

void CopyWeights(const OnnxMapping& mapping, const Layout& layout, std::span<float> memory) {
  for (const Layout::Slot& slot : layout.slots) {
    const LayerWeights& weights = mapping.weights().at(slot.node);
    const std::vector<float>* const by_role[] = {&weights.weight, &weights.bias, &weights.mean,
                                                 &weights.variance};
    const std::vector<float>& values = *by_role[static_cast<std::size_t>(slot.tensor.role)];
    TRIBUTARY_CHECK(values.size() == slot.segment.count);
    std::ranges::copy(values, memory.subspan(slot.segment.offset).begin());
  }
}

}  // namespace

StatusOr<OnnxNetwork> ImportOnnx(ByteSpan file, const OnnxImportOptions& options,
                                 const std::optional<std::filesystem::path>& folder) {
  google::protobuf::Arena arena;
  TRIBUTARY_ASSIGN_OR_RETURN(const OnnxModel* document, ParseOnnx(file, arena));
  const OnnxGraph& nodes = document->graph();
  const std::int64_t opset = OpsetOf(*document);
  if (opset != 0 && opset < kOldestOpset) {
    return InvalidArgument("it is of operator set " + std::to_string(opset) +
                           "; allowed: " + std::to_string(kOldestOpset) + " and later. Export it again");
  }
  std::set<std::string_view> weights;
  for (const OnnxTensor& tensor : nodes.initializer()) weights.insert(tensor.name());
  TRIBUTARY_ASSIGN_OR_RETURN(const OnnxValue* input,
                             OnlyOne(nodes.input(), weights, "inputs", "one, the samples"));
  TRIBUTARY_ASSIGN_OR_RETURN(
      const OnnxValue* output,
      OnlyOne(nodes.output(), {}, "outputs",
              "one, the scores of the classes. Export the network without auxiliary heads"));
  TRIBUTARY_ASSIGN_OR_RETURN(const InputForm form, FormOf(nodes, *input, options.input));
  const std::vector<bool> needed = NeededNodes(nodes, output->name());
  const std::vector<std::string> names = NameOnnxNodes(nodes);

  OnnxTensorValues values(folder);
  const std::string name = PlainLayerName(options.name);
  OnnxMapping mapping(nodes, values, name.empty() ? "network" : name, form.shape);
  for (const OnnxTensor& tensor : nodes.initializer()) mapping.SetConstant(tensor.name(), tensor);
  mapping.SetInput(input->name(), form.order, form.flat);
  // Constants first, because a bias may come after the layer that it is added to.
  for (const bool constants : {true, false}) {
    for (std::size_t i = 0; i < needed.size(); ++i) {
      const OnnxNode& node = nodes.node(static_cast<int>(i));
      if (!needed[i] || (node.op_type() == "Constant") != constants) continue;
      TRIBUTARY_RETURN_IF_ERROR(mapping.Map(node, names[i]));
    }
  }
  TRIBUTARY_ASSIGN_OR_RETURN(const NodeIndex last, mapping.Output(output->name()));
  TRIBUTARY_ASSIGN_OR_RETURN(Graph graph, mapping.Build(last));
  TRIBUTARY_RETURN_IF_ERROR(CheckGraphLimits(graph));
  const Model model(graph);
  OnnxNetwork network{std::move(graph),
                      FlatBuffer(model.parameters.size),
                      FlatBuffer(model.statistics.size),
                      {},
                      mapping.notes()};
  for (const auto& entry : document->metadata_props()) network.metadata[entry.key()] = entry.value();
  CopyWeights(mapping, model.parameters, network.parameters.span());
  CopyWeights(mapping, model.statistics, network.statistics.span());
  return network;
}

StatusOr<OnnxNetwork> ReadOnnxNetwork(const std::filesystem::path& path, OnnxImportOptions options) {
  TRIBUTARY_ASSIGN_OR_RETURN(const auto bytes, ReadFile(path, kLargestOnnxFile));
  if (options.name.empty()) options.name = path.stem().string();
  return ImportOnnx(bytes, options, path.parent_path()).WithContext(path.string());
}

}  // namespace tributary::inline onnx
