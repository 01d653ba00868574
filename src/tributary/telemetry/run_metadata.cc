#include "tributary/telemetry/run_metadata.h"

#include <nlohmann/json.hpp>

namespace tributary::inline telemetry {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

constexpr std::size_t kMostDevices = 1'000'000, kMostClasses = 1'000, kMostCounts = 10'000'000,
                      kMostPoints = 10'000, kMostMechanisms = 100, kMostLetters = 1'000;
constexpr double kLongest = 1e9;  // seconds

// The value of a key, or nullptr if it is null or missing.
const Json* Find(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

Status Wrong(const std::string& key, const std::string& allowed) {
  return Corrupt("facts of the run: '" + key + "' is missing or wrong; allowed: " + allowed);
}

StatusOr<double> Number(const Json* value, const std::string& key, double low, double high) {
  if (value == nullptr || !value->is_number()) return Wrong(key, "a number");
  const auto number = value->get<double>();
  if (!(number >= low && number <= high)) return Wrong(key, "a number in its range");
  return number;
}

StatusOr<std::string> Text(const Json* value, const std::string& key) {
  if (value == nullptr || !value->is_string()) return Wrong(key, "a text");
  auto text = value->get<std::string>();
  if (text.size() > kMostLetters)
    return Wrong(key, "a text of at most " + std::to_string(kMostLetters) + " bytes");
  return text;
}

StatusOr<const Json*> List(const Json& object, const char* key, std::size_t most) {
  const Json* list = Find(object, key);
  if (list == nullptr || !list->is_array() || list->size() > most) {
    return Wrong(key, "a list of at most " + std::to_string(most));
  }
  return list;
}

StatusOr<RunMetadata::Device> ReadDevice(const Json& object, std::size_t& counts) {
  RunMetadata::Device device;
  TRIBUTARY_ASSIGN_OR_RETURN(device.name, Text(Find(object, "name"), "name"));
  TRIBUTARY_ASSIGN_OR_RETURN(device.group, Text(Find(object, "group"), "group"));
  TRIBUTARY_ASSIGN_OR_RETURN(const Json* list, List(object, "class_counts", kMostClasses));
  counts += list->size();
  if (counts > kMostCounts)
    return Wrong("class_counts", "at most " + std::to_string(kMostCounts) + " of all devices");
  for (const Json& count : *list) {
    TRIBUTARY_ASSIGN_OR_RETURN(const double number, Number(&count, "class_counts", 0, 1e15));
    device.class_counts.push_back(static_cast<std::int64_t>(number));
  }
  return device;
}

}  // namespace

std::string FormatRunMetadata(const RunMetadata& metadata) {
  OrderedJson json;
  json["simulated"] = metadata.simulated;
  json["target"] = metadata.target ? OrderedJson(*metadata.target) : OrderedJson();
  json["deadline_s"] = metadata.deadline ? OrderedJson(ToSeconds(*metadata.deadline)) : OrderedJson();
  json["dense_update"] = metadata.dense_update.value;
  json["mechanisms"] = metadata.mechanisms;
  json["front"] = OrderedJson::array();
  for (const RunMetadata::Choice& choice : metadata.front) {
    json["front"].push_back({{"cost", choice.cost}, {"convergence", choice.convergence}});
  }
  json["devices"] = OrderedJson::array();
  for (const RunMetadata::Device& device : metadata.devices) {
    json["devices"].push_back(
        {{"name", device.name}, {"group", device.group}, {"class_counts", device.class_counts}});
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

StatusOr<RunMetadata> ParseRunMetadata(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return Corrupt("facts of the run: not a JSON object");
  RunMetadata metadata;
  const Json* simulated = Find(json, "simulated");
  if (simulated == nullptr || !simulated->is_boolean()) return Wrong("simulated", "true or false");
  metadata.simulated = simulated->get<bool>();
  if (const Json* target = Find(json, "target")) {
    TRIBUTARY_ASSIGN_OR_RETURN(metadata.target, Number(target, "target", 0, 1));
  }
  if (const Json* deadline = Find(json, "deadline_s")) {
    TRIBUTARY_ASSIGN_OR_RETURN(const double seconds, Number(deadline, "deadline_s", 0, kLongest));
    metadata.deadline = FromSeconds(seconds);
  }
  TRIBUTARY_ASSIGN_OR_RETURN(const double dense, Number(Find(json, "dense_update"), "dense_update", 0, 1e15));
  metadata.dense_update = {static_cast<std::int64_t>(dense)};
  TRIBUTARY_ASSIGN_OR_RETURN(const Json* mechanisms, List(json, "mechanisms", kMostMechanisms));
  for (const Json& mechanism : *mechanisms) {
    TRIBUTARY_ASSIGN_OR_RETURN(std::string name, Text(&mechanism, "mechanisms"));
    metadata.mechanisms.push_back(std::move(name));
  }
  TRIBUTARY_ASSIGN_OR_RETURN(const Json* front, List(json, "front", kMostPoints));
  for (const Json& point : *front) {
    RunMetadata::Choice choice;
    TRIBUTARY_ASSIGN_OR_RETURN(choice.cost, Number(Find(point, "cost"), "cost", 0, 1));
    TRIBUTARY_ASSIGN_OR_RETURN(choice.convergence,
                               Number(Find(point, "convergence"), "convergence", -1e9, 1e9));
    metadata.front.push_back(choice);
  }
  TRIBUTARY_ASSIGN_OR_RETURN(const Json* devices, List(json, "devices", kMostDevices));
  std::size_t counts = 0;
  for (const Json& object : *devices) {
    TRIBUTARY_ASSIGN_OR_RETURN(RunMetadata::Device device, ReadDevice(object, counts));
    metadata.devices.push_back(std::move(device));
  }
  return metadata;
}

}  // namespace tributary::inline telemetry
