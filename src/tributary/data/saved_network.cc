#include "tributary/data/saved_network.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "tributary/model/graph_text.h"

namespace tributary::inline data {
namespace {

// One key for everything, so that metadata of other programs is not misread.
constexpr const char* kKey = "tributary";
const std::string kWhere = "its metadata 'tributary'";

const char* StemName(Stem stem) {
  return stem == Stem::kCifar ? "cifar" : stem == Stem::kImageNet ? "imagenet" : "auto";
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
  // PyTorch's readers expect "format": "pt".
  return {{"format", "pt"},
          {kKey, description.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)}};
}

StatusOr<std::optional<SavedNetwork>> FromMetadata(const Metadata& metadata) {
  const auto entry = metadata.find(kKey);
  if (entry == metadata.end()) return std::optional<SavedNetwork>();
  const auto json = nlohmann::json::parse(entry->second, nullptr, /*allow_exceptions=*/false);
  // Null if absent.
  const auto field = [&](const char* key) {
    return json.is_object() ? json.value(key, nlohmann::json()) : json;
  };
  const auto text = [&](const char* key) {
    const auto value = field(key);
    return value.is_string() ? value.get<std::string>() : std::string();
  };
  if (!json.is_object() || !field("classes").is_number_integer() || !field("mean").is_array() ||
      !field("deviation").is_array()) {
    return Corrupt(kWhere + " does not describe a network");
  }
  SavedNetwork network;
  network.zoo.name = text("model");
  network.zoo.cut = text("cut");
  network.zoo.tail = text("tail");
  if (json.contains("graph")) {
    TRIBUTARY_ASSIGN_OR_RETURN(Graph graph, ParseGraph(text("graph")).WithContext(kWhere));
    network.zoo.imported = std::make_shared<const Graph>(std::move(graph));
  }
  if (const auto width = field("width"); width.is_number()) network.zoo.width = width.get<double>();
  network.data = text("data");
  if (const auto names = field("class_names"); names.is_array()) {
    for (const auto& name : names) {
      if (!name.is_string()) return Corrupt(kWhere + " has names of classes that are no text");
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
