#include "tributary/data/saved_network.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "tributary/model/graph_text.h"

namespace tributary::inline data {
namespace {

// All under one name, so that files with metadata of others' pass by unharmed.
constexpr const char* kKey = "tributary";

std::string StemName(Stem stem) {
  switch (stem) {
    case Stem::kAuto:
      return "auto";
    case Stem::kCifar:
      return "cifar";
    case Stem::kImageNet:
      return "imagenet";
  }
  return "auto";
}

StatusOr<std::vector<float>> Numbers(const nlohmann::json& list) {
  std::vector<float> numbers;
  for (const auto& item : list) {
    if (!item.is_number() || !std::isfinite(item.get<float>()))
      return Corrupt("the normalisation is not a list of numbers");
    numbers.push_back(item.get<float>());
  }
  return numbers;
}

}  // namespace

Metadata ToMetadata(const SavedNetwork& network) {
  nlohmann::ordered_json description = {{"model", network.zoo.name},
                                        {"input", FormatShape(network.zoo.input.value())},
                                        {"classes", network.zoo.classes.value()},
                                        {"stem", StemName(network.zoo.stem)},
                                        {"data", network.data},
                                        {"mean", network.normalisation.mean},
                                        {"deviation", network.normalisation.deviation}};
  if (!network.class_names.empty()) description["class_names"] = network.class_names;
  if (!network.zoo.cut.empty()) description["cut"] = network.zoo.cut;
  if (!network.zoo.tail.empty()) description["tail"] = network.zoo.tail;
  if (network.zoo.imported) description["graph"] = FormatGraph(*network.zoo.imported);
  if (network.zoo.width != 1) description["width"] = network.zoo.width;
  // "format": "pt" is what PyTorch's readers look for.
  return {{"format", "pt"},
          {kKey, description.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)}};
}

StatusOr<std::optional<SavedNetwork>> FromMetadata(const Metadata& metadata) {
  const auto entry = metadata.find(kKey);
  if (entry == metadata.end()) return std::optional<SavedNetwork>();
  const auto json = nlohmann::json::parse(entry->second, nullptr, /*allow_exceptions=*/false);
  const auto text = [&](const char* key) {
    return json.is_object() && json.contains(key) && json[key].is_string() ? json[key].get<std::string>()
                                                                           : std::string();
  };
  const bool complete = json.is_object() && json.contains("classes") && json["classes"].is_number_integer() &&
                        json.contains("mean") && json["mean"].is_array() && json.contains("deviation") &&
                        json["deviation"].is_array();
  if (!complete) return Corrupt("its metadata '" + std::string(kKey) + "' does not describe a network");
  SavedNetwork network;
  network.zoo.name = text("model");
  network.zoo.cut = text("cut");
  network.zoo.tail = text("tail");
  if (json.contains("graph")) {
    auto graph = ParseGraph(text("graph"));
    if (!graph.ok()) return std::move(graph).status().WithContext("its metadata '" + std::string(kKey) + "'");
    network.zoo.imported = std::make_shared<const Graph>(std::move(graph).value());
  }
  if (json.contains("width") && json["width"].is_number()) network.zoo.width = json["width"].get<double>();
  network.data = text("data");
  if (json.contains("class_names") && json["class_names"].is_array()) {
    for (const auto& name : json["class_names"]) {
      if (!name.is_string())
        return Corrupt("its metadata '" + std::string(kKey) + "' has names of classes that are no text");
      network.class_names.push_back(name.get<std::string>());
    }
  }
  network.zoo.classes = json["classes"].get<std::int64_t>();
  TRIBUTARY_ASSIGN_OR_RETURN(network.zoo.input, ParseShape(text("input")));
  TRIBUTARY_ASSIGN_OR_RETURN(network.zoo.stem, ParseStem(text("stem")));
  TRIBUTARY_ASSIGN_OR_RETURN(network.normalisation.mean, Numbers(json["mean"]));
  TRIBUTARY_ASSIGN_OR_RETURN(network.normalisation.deviation, Numbers(json["deviation"]));
  return std::optional<SavedNetwork>(std::move(network));
}

}  // namespace tributary::inline data
