#include "tributary/model/graph_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tributary/base/names.h"
#include "tributary/model/safetensors_header.h"

namespace tributary::inline model {
namespace {

using GraphJson = nlohmann::ordered_json;

GraphJson FieldJson(const Extent& value) { return GraphJson::array({value.height, value.width}); }
template <typename T>
GraphJson FieldJson(const T& value) {
  return value;
}

// Overwrites defaults with the fields that are present, and remembers the first field of a wrong type.
class FieldReader {
 public:
  explicit FieldReader(const GraphJson& json) : json_(json) {}

  void operator()(const char* key, std::int64_t& out) {
    if (const GraphJson* value = Take(key); value != nullptr) ReadWhole(key, *value, out);
  }
  void operator()(const char* key, Extent& out) {
    const GraphJson* value = Take(key);
    if (value == nullptr) return;
    if (!value->is_array() || value->size() != 2) return Fail(key, "two whole numbers");
    ReadWhole(key, (*value)[0], out.height);
    ReadWhole(key, (*value)[1], out.width);
  }
  void operator()(const char* key, double& out) {
    const GraphJson* value = Take(key);
    if (value == nullptr) return;
    if (!value->is_number()) return Fail(key, "a number");
    out = value->get<double>();
  }
  void operator()(const char* key, bool& out) {
    const GraphJson* value = Take(key);
    if (value == nullptr) return;
    if (!value->is_boolean()) return Fail(key, "true or false");
    out = value->get<bool>();
  }

  Status Finish() const {
    if (!error_.empty()) return InvalidArgument(error_);
    for (const auto& [key, value] : json_.items()) {
      if (key != "name" && key != "kind" && key != "inputs" &&
          std::ranges::find(known_, key) == known_.end()) {
        return UnknownName("field", key.substr(0, 64), known_);
      }
    }
    return OkStatus();
  }

 private:
  const GraphJson* Take(const char* key) {
    known_.emplace_back(key);
    return json_.contains(key) ? &json_[key] : nullptr;
  }
  void Fail(const char* key, const std::string& allowed) {
    if (error_.empty()) error_ = std::string(key) + " must be " + allowed;
  }
  void ReadWhole(const char* key, const GraphJson& value, std::int64_t& out) {
    if (!value.is_number_integer() ||
        (value.is_number_unsigned() && value.get<std::uint64_t>() > (1ULL << 62))) {
      return Fail(key, "a whole number");
    }
    out = value.get<std::int64_t>();
  }

  const GraphJson& json_;
  std::vector<std::string> known_;
  std::string error_;
};

// Every kind but the input, whose shape the network states itself.
template <std::size_t i = 1, typename Use>
void ForEachKind(const Use& use) {
  if constexpr (i < std::variant_size_v<Operation>) {
    use(std::variant_alternative_t<i, Operation>());
    ForEachKind<i + 1>(use);
  }
}

GraphJson NodeJson(const Graph& graph, NodeIndex index) {
  const Node& node = graph.node(index);
  GraphJson json = {{"name", node.name}, {"kind", KindName(node.operation)}};
  if (node.inputs != std::vector<NodeIndex>{index - 1}) json["inputs"] = node.inputs;
  std::visit(
      [&]<typename Op>(const Op& op) {
        const Op usual{};
        const auto write = [&](const char* key, auto member) {
          if (op.*member != usual.*member) json[key] = FieldJson(op.*member);
        };
        std::apply([&](const auto&... field) { (write(field.first, field.second), ...); }, Op::kFields);
      },
      node.operation);
  return json;
}

StatusOr<Operation> ReadOperation(const GraphJson& json) {
  const std::string kind =
      json.contains("kind") && json["kind"].is_string() ? json["kind"].get<std::string>() : "";
  std::vector<std::string> kinds;
  StatusOr<Operation> result = InvalidArgument("no such kind");
  bool found = false;
  ForEachKind([&]<typename Op>(Op op) {
    kinds.emplace_back(Op::kTraits.name);
    if (Op::kTraits.name != kind) return;
    found = true;
    FieldReader reader(json);
    std::apply([&](const auto&... field) { (reader(field.first, op.*field.second), ...); }, Op::kFields);
    const Status status = reader.Finish();
    result = status.ok() ? StatusOr<Operation>(Operation(op)) : StatusOr<Operation>(status);
  });
  if (!found) return UnknownName("kind of layer", kind.substr(0, 64), kinds);
  return result;
}

StatusOr<std::vector<NodeIndex>> ReadInputs(const GraphJson& json, NodeIndex index) {
  if (!json.contains("inputs")) return std::vector<NodeIndex>{index - 1};
  const GraphJson& list = json["inputs"];
  std::vector<NodeIndex> inputs;
  const auto fits = [&](const GraphJson& item) {
    return item.is_number_unsigned() && item.get<std::uint64_t>() < index;
  };
  if (!list.is_array() || !std::all_of(list.begin(), list.end(), fits))
    return InvalidArgument("inputs must be a list of earlier nodes");
  for (const GraphJson& item : list) inputs.push_back(item.get<NodeIndex>());
  return inputs;
}

bool IsPlain(std::string_view name) {
  constexpr std::size_t kLongest = 200;
  return !name.empty() && name.size() <= kLongest && std::ranges::all_of(name, [](char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '.' || letter == '_' ||
           letter == '-';
  });
}

StatusOr<std::string> NameIn(const GraphJson& json, const std::string& whose) {
  const std::string name = json.is_object() && json.contains("name") && json["name"].is_string()
                               ? json["name"].get<std::string>()
                               : "";
  if (IsPlain(name)) return name;
  return InvalidArgument(whose + " needs a name of letters, digits, '.', '_' and '-'" +
                         (name.empty() ? "" : ", found " + QuoteName(name)));
}

}  // namespace

std::string FormatGraph(const Graph& graph) {
  GraphJson nodes = GraphJson::array();
  for (NodeIndex i = 1; i < graph.size(); ++i) nodes.push_back(NodeJson(graph, i));
  return GraphJson{
      {"name", graph.name()}, {"input", FormatShape(graph.input_shape())}, {"nodes", std::move(nodes)}}
      .dump();
}

StatusOr<Graph> ParseGraph(std::string_view text) {
  const GraphJson json = GraphJson::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("nodes") || !json["nodes"].is_array() || !json.contains("input") ||
      !json["input"].is_string()) {
    return InvalidArgument("a network is described by JSON with a name, an input and nodes");
  }
  TRIBUTARY_ASSIGN_OR_RETURN(const std::string name, NameIn(json, "a network"));
  TRIBUTARY_ASSIGN_OR_RETURN(
      const Shape input, ParseShape(json["input"].get<std::string>()).WithContext("the input of " + name));
  GraphBuilder builder(name, input);
  NodeIndex index = 0;
  for (const GraphJson& item : json["nodes"]) {
    ++index;
    TRIBUTARY_ASSIGN_OR_RETURN(std::string node,
                               NameIn(item, "node " + std::to_string(index) + " of " + name));
    const std::string where = "node '" + node + "' of " + name;
    TRIBUTARY_ASSIGN_OR_RETURN(Operation operation, ReadOperation(item).WithContext(where));
    TRIBUTARY_ASSIGN_OR_RETURN(std::vector<NodeIndex> inputs, ReadInputs(item, index).WithContext(where));
    builder.Add(std::move(node), std::move(operation), std::move(inputs));
  }
  TRIBUTARY_ASSIGN_OR_RETURN(Graph graph, std::move(builder).Build());
  TRIBUTARY_RETURN_IF_ERROR(CheckGraphLimits(graph));
  return graph;
}

}  // namespace tributary::inline model
