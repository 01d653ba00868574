#include "tributary/onnx/import.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "tributary/model/graph.h"
#include "tributary/model/safetensors_header.h"
#include "tributary/onnx/mapping.h"
#include "tributary/onnx/node_names.h"

namespace tributary::inline onnx {
namespace {

constexpr Bytes kLargestOnnxFile{16'000'000'000};
constexpr std::int64_t kOldestOpset = 7;
constexpr std::int64_t kLongestSide = 65'536;

std::string ValueNames(const std::vector<const OnnxValue*>& values) {
  std::string text;
  for (const OnnxValue* value : values) {
    if (text.size() > 200) return text + ", …";
    text += (text.empty() ? "" : ", ") + QuoteName(value->name);
  }
  return text;
}

std::string SizesText(const std::vector<std::int64_t>& sizes) {
  std::string text = "[";
  for (std::size_t i = 0; i < sizes.size(); ++i)
    text += (i > 0 ? ", " : "") + (sizes[i] < 0 ? "?" : std::to_string(sizes[i]));
  return text + "]";
}

// Older files list their weights among the inputs.
StatusOr<const OnnxValue*> InputOf(const OnnxDocument& document) {
  std::set<std::string_view> weights;
  for (const OnnxTensor& tensor : document.initializers) weights.insert(tensor.name);
  std::vector<const OnnxValue*> inputs;
  for (const OnnxValue& value : document.inputs) {
    if (!weights.contains(value.name)) inputs.push_back(&value);
  }
  if (inputs.size() == 1) return inputs[0];
  return InvalidArgument("it has " + std::to_string(inputs.size()) + " inputs" +
                         (inputs.empty() ? "" : ": " + ValueNames(inputs)) + "; allowed: one, the samples");
}

StatusOr<std::string_view> OutputOf(const OnnxDocument& document) {
  if (document.outputs.size() == 1) return document.outputs[0].name;
  std::vector<const OnnxValue*> outputs;
  for (const OnnxValue& value : document.outputs) outputs.push_back(&value);
  return InvalidArgument(
      "it has " + std::to_string(outputs.size()) + " outputs" +
      (outputs.empty() ? "" : ": " + ValueNames(outputs)) +
      "; allowed: one, the scores of the classes. Export the network without auxiliary heads");
}

// Nodes that the output depends on, in the file's order.
std::vector<bool> NeededNodes(const OnnxDocument& document, std::string_view output) {
  std::set<std::string_view> needed = {output};
  std::vector<bool> result(document.nodes.size(), false);
  for (std::size_t i = document.nodes.size(); i-- > 0;) {
    const OnnxNode& node = document.nodes[i];
    const bool gives = std::ranges::any_of(
        node.outputs, [&](std::string_view name) { return !name.empty() && needed.contains(name); });
    if (!gives) continue;
    result[i] = true;
    needed.insert(node.inputs.begin(), node.inputs.end());
  }
  return result;
}

bool IsTurnedAtOnce(const OnnxDocument& document, std::string_view input) {
  bool read = false;
  for (const OnnxNode& node : document.nodes) {
    if (std::ranges::find(node.inputs, input) == node.inputs.end()) continue;
    read = true;
    const auto perm = std::ranges::find(node.attributes, std::string_view("perm"), &OnnxAttribute::name);
    const bool turns = node.operation == "Transpose" && perm != node.attributes.end() &&
                       perm->integers == std::vector<std::int64_t>{0, 3, 1, 2};
    if (!turns) return false;
  }
  return read;
}

struct InputForm {
  Shape shape;
  ValueOrder order = ValueOrder::kChannelsFirst;
  bool flat = false;
};

StatusOr<InputForm> FormOf(const OnnxDocument& document, const OnnxValue& input,
                           const std::optional<Shape>& given) {
  InputForm form;
  const std::vector<std::int64_t>& sizes = input.sizes;
  if (sizes.size() == 4 && IsTurnedAtOnce(document, input.name)) {
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
        "its input " + QuoteName(input.name) + " has the shape " +
        (input.has_shape ? SizesText(sizes) : "?") +
        "; allowed: [batch, channels, height, width], [batch, channels, length] or [batch, columns]");
  }
  const std::int64_t channels = form.shape.channels;
  if (given) {
    if (channels > 0 && given->channels != channels) {
      return InvalidArgument("its input " + QuoteName(input.name) + " has the shape " + SizesText(sizes) +
                             ", which samples of " + FormatShape(*given) + " do not fit");
    }
    form.shape = *given;
  }
  const auto in_range = [](std::int64_t side) { return side >= 1 && side <= kLongestSide; };
  if (!in_range(form.shape.channels) || !in_range(form.shape.height) || !in_range(form.shape.width)) {
    return InvalidArgument("its input " + QuoteName(input.name) + " has the shape " + SizesText(sizes) +
                           ", which leaves the shape of a sample open; give it with --input CxHxW");
  }
  return form;
}

void CopyWeights(const OnnxMapping& mapping, const Layout& layout, std::span<float> memory) {
  for (const Layout::Slot& slot : layout.slots) {
    const LayerWeights& weights = mapping.weights().at(slot.node);
    const std::vector<float>* values = nullptr;
    switch (slot.tensor.role) {
      case NodeTensor::Role::kWeight:
        values = &weights.weight;
        break;
      case NodeTensor::Role::kBias:
        values = &weights.bias;
        break;
      case NodeTensor::Role::kRunningMean:
        values = &weights.mean;
        break;
      case NodeTensor::Role::kRunningVariance:
        values = &weights.variance;
        break;
    }
    TRIBUTARY_CHECK(values->size() == slot.segment.count);
    std::copy(values->begin(), values->end(),
              memory.begin() + static_cast<std::ptrdiff_t>(slot.segment.offset));
  }
}

}  // namespace

std::string OnnxOperators() {
  std::string text;
  for (const std::string& name : OnnxMapping::Operators()) text += (text.empty() ? "" : ", ") + name;
  return text;
}

StatusOr<OnnxNetwork> ImportOnnx(ByteSpan file, const OnnxImportOptions& options,
                                 const std::optional<std::filesystem::path>& folder) {
  TRIBUTARY_ASSIGN_OR_RETURN(const OnnxDocument document, ParseOnnx(file));
  if (document.opset != 0 && document.opset < kOldestOpset) {
    return InvalidArgument("it is of operator set " + std::to_string(document.opset) +
                           "; allowed: " + std::to_string(kOldestOpset) + " and later. Export it again");
  }
  TRIBUTARY_ASSIGN_OR_RETURN(const OnnxValue* input, InputOf(document));
  TRIBUTARY_ASSIGN_OR_RETURN(const std::string_view output, OutputOf(document));
  TRIBUTARY_ASSIGN_OR_RETURN(const InputForm form, FormOf(document, *input, options.input));
  const std::vector<bool> needed = NeededNodes(document, output);
  const std::vector<std::string> names = NameOnnxNodes(document);

  OnnxTensorValues values(folder);
  const std::string name = PlainLayerName(options.name);
  OnnxMapping mapping(document, values, name.empty() ? "network" : name, form.shape);
  for (const OnnxTensor& tensor : document.initializers) mapping.SetConstant(tensor.name, tensor);
  mapping.SetInput(input->name, form.order, form.flat);
  // Constants first: a bias may stand behind the layer that it is added to.
  for (const bool constants : {true, false}) {
    for (std::size_t i = 0; i < document.nodes.size(); ++i) {
      if (!needed[i] || (document.nodes[i].operation == "Constant") != constants) continue;
      TRIBUTARY_RETURN_IF_ERROR(mapping.Map(document.nodes[i], names[i]));
    }
  }
  TRIBUTARY_ASSIGN_OR_RETURN(const NodeIndex last, mapping.Output(output));
  TRIBUTARY_ASSIGN_OR_RETURN(Graph graph, mapping.Build(last));
  TRIBUTARY_RETURN_IF_ERROR(CheckGraphLimits(graph));
  const Model model(graph);
  OnnxNetwork network{std::move(graph), FlatBuffer(model.parameters.size), FlatBuffer(model.statistics.size),
                      document.metadata, mapping.notes()};
  CopyWeights(mapping, model.parameters, network.parameters.span());
  CopyWeights(mapping, model.statistics, network.statistics.span());
  return network;
}

StatusOr<OnnxNetwork> ReadOnnxNetwork(const std::filesystem::path& path, OnnxImportOptions options) {
  TRIBUTARY_ASSIGN_OR_RETURN(const auto bytes, ReadFile(path, kLargestOnnxFile));
  if (options.name.empty()) options.name = path.stem().string();
  auto network = ImportOnnx(bytes, options, path.parent_path());
  if (!network.ok()) return std::move(network).status().WithContext(path.string());
  return network;
}

}  // namespace tributary::inline onnx
