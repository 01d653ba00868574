#include <algorithm>

#include "tributary/experiment/sections.h"
#include "tributary/model/graph_text.h"
#include "tributary/onnx/import.h"

namespace tributary::inline experiment {
namespace {

constexpr std::size_t kMostFrozen = 1000;
constexpr std::string_view kNoFiles =
    "this experiment may not name files; write the network into it, as graph";

bool IsFileName(const Value& value) {
  const auto* text = std::get_if<std::string>(&value.content);
  return text != nullptr && !text->empty() && text->find('\0') == std::string::npos;
}

// Where an experiment's file is, whoever reads it from where later on.
std::string Resolved(const std::filesystem::path& folder, const std::string& name) {
  std::error_code error;
  const std::filesystem::path path = folder / name;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  return (error ? path : absolute).lexically_normal().string();
}

StatusOr<Graph> BroughtGraph(const Value& value, const std::optional<std::filesystem::path>& folder,
                             const OnnxImportOptions& options, ModelChoice& model) {
  if (!IsFileName(value))
    return InvalidArgument("found " + Describe(value) + "; allowed: an ONNX file, like \"network.onnx\"");
  if (!folder) return InvalidArgument(std::string(kNoFiles));
  model.weights = Resolved(*folder, std::get<std::string>(value.content));
  TRIBUTARY_ASSIGN_OR_RETURN(OnnxNetwork network, ReadOnnxNetwork(model.weights, options));
  return std::move(network.graph);
}

StatusOr<Graph> WrittenGraph(const Value& value) {
  const auto* text = std::get_if<std::string>(&value.content);
  if (text == nullptr) return InvalidArgument("found " + Describe(value) + "; allowed: a network as text");
  return ParseGraph(*text);
}

void KeepGraph(Section& section, std::string_view key, const Value& value, StatusOr<Graph> graph,
               ModelChoice& model) {
  if (!graph.ok()) {
    // A missing file keeps its code: it is not the experiment that is wrong.
    section.Fail(Status(graph.status().code(), Prefix(section.document().name, value.place) +
                                                   section.PathOf(key) + ": " + graph.status().message()));
    return;
  }
  if (!model.name.empty() && model.name != graph->name()) {
    section.Fail("name",
                 " is \"" + model.name + "\", and the network in graph is called \"" + graph->name() + "\"");
    return;
  }
  model.name = graph->name();
  model.graph = std::make_shared<const Graph>(std::move(graph).value());
}

}  // namespace

Status ReadModel(Section section, const std::optional<std::filesystem::path>& folder, ModelChoice& model) {
  std::vector<std::string> zoo;
  for (const ZooEntry& entry : Zoo()) zoo.push_back(entry.name);
  const bool brought = section.Has("onnx") || section.Has("graph");
  if (brought) {
    section.Read("name", model.name);
  } else {
    section.Require("name");
    section.ReadName("name", "model", zoo, model.name);
  }
  OnnxImportOptions options{model.name, {}};
  std::string input;
  section.Read("input", input);
  section.OnlyWith("input", section.Has("onnx"), "onnx");
  if (section.Has("input")) {
    if (const auto shape = ParseShape(input); shape.ok()) {
      options.input = *shape;
    } else {
      section.Fail("input", ": " + shape.status().message());
    }
  }
  if (const Value* file = section.Take("onnx"))
    KeepGraph(section, "onnx", *file, BroughtGraph(*file, folder, options, model), model);
  section.OnlyWith("graph", !section.Has("onnx"), "no onnx");
  if (const Value* text = section.Take("graph"))
    KeepGraph(section, "graph", *text, WrittenGraph(*text), model);
  if (const Value* weights = section.Take("weights")) {
    if (IsFileName(*weights)) {
      const std::string& name = std::get<std::string>(weights->content);
      // Only whoever may name files opens it (device/setting.h); to others it is what the file is called.
      model.weights = folder ? Resolved(*folder, name) : name;
    } else {
      section.Fail(*weights, "weights",
                   " is " + Describe(*weights) + "; allowed: a file, like \"resnet18.safetensors\"");
    }
  }
  section.Read("new-head", model.new_head);
  section.OnlyWith("new-head", !model.weights.empty(), "onnx or weights");
  section.Read("freeze", model.freeze, "layers, like [\"conv1\", \"layer1\"]", kMostFrozen);
  section.ReadWord("stem", kStems, model.stem);
  section.OnlyWith("stem", !brought, "a built-in network");
  if (section.Has("compute-as")) model.compute_as.emplace();
  std::string ignored;
  section.ReadName("compute-as", "model", zoo, model.compute_as ? *model.compute_as : ignored);
  if (model.compute_as && !model.freeze.empty()) {
    section.Fail("freeze", ": compute-as stands for a network that is trained whole; leave one of them out");
  }
  return section.Finish();
}

}  // namespace tributary::inline experiment
