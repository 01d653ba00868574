#include "tributary/telemetry/run_facts.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace tributary {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostDevices = 1'000'000, kMostClasses = 1'000, kMostCounts = 10'000'000,
                      kMostPoints = 10'000, kMostMechanisms = 100, kMostLetters = 1'000;
constexpr double kLongest = 1e9;  // seconds

// The value of a key, or nothing where it is null or missing.
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

StatusOr<RunFacts::Device> ReadDevice(const Json& object, std::size_t& counts) {
  RunFacts::Device device;
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

std::string FormatFacts(const RunFacts& facts) {
  nlohmann::ordered_json json;
  json["simulated"] = facts.simulated;
  json["target"] = facts.target ? nlohmann::ordered_json(*facts.target) : nlohmann::ordered_json();
  json["deadline_s"] =
      facts.deadline ? nlohmann::ordered_json(ToSeconds(*facts.deadline)) : nlohmann::ordered_json();
  json["dense_update"] = facts.dense_update.value;
  json["mechanisms"] = facts.mechanisms;
  json["front"] = nlohmann::ordered_json::array();
  for (const RunFacts::Choice& choice : facts.front) {
    json["front"].push_back({{"cost", choice.cost}, {"convergence", choice.convergence}});
  }
  json["devices"] = nlohmann::ordered_json::array();
  for (const RunFacts::Device& device : facts.devices) {
    json["devices"].push_back(
        {{"name", device.name}, {"group", device.group}, {"class_counts", device.class_counts}});
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

StatusOr<RunFacts> ParseFacts(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return Corrupt("facts of the run: not a JSON object");
  RunFacts facts;
  const Json* simulated = Find(json, "simulated");
  if (simulated == nullptr || !simulated->is_boolean()) return Wrong("simulated", "true or false");
  facts.simulated = simulated->get<bool>();
  if (const Json* target = Find(json, "target")) {
    TRIBUTARY_ASSIGN_OR_RETURN(facts.target, Number(target, "target", 0, 1));
  }
  if (const Json* deadline = Find(json, "deadline_s")) {
    TRIBUTARY_ASSIGN_OR_RETURN(const double seconds, Number(deadline, "deadline_s", 0, kLongest));
    facts.deadline = FromSeconds(seconds);
  }
  TRIBUTARY_ASSIGN_OR_RETURN(const double dense, Number(Find(json, "dense_update"), "dense_update", 0, 1e15));
  facts.dense_update = {static_cast<std::int64_t>(dense)};
  TRIBUTARY_ASSIGN_OR_RETURN(const Json* mechanisms, List(json, "mechanisms", kMostMechanisms));
  for (const Json& mechanism : *mechanisms) {
    TRIBUTARY_ASSIGN_OR_RETURN(std::string name, Text(&mechanism, "mechanisms"));
    facts.mechanisms.push_back(std::move(name));
  }
  TRIBUTARY_ASSIGN_OR_RETURN(const Json* front, List(json, "front", kMostPoints));
  for (const Json& point : *front) {
    RunFacts::Choice choice;
    TRIBUTARY_ASSIGN_OR_RETURN(choice.cost, Number(Find(point, "cost"), "cost", 0, 1));
    TRIBUTARY_ASSIGN_OR_RETURN(choice.convergence,
                               Number(Find(point, "convergence"), "convergence", -1e9, 1e9));
    facts.front.push_back(choice);
  }
  TRIBUTARY_ASSIGN_OR_RETURN(const Json* devices, List(json, "devices", kMostDevices));
  std::size_t counts = 0;
  for (const Json& object : *devices) {
    TRIBUTARY_ASSIGN_OR_RETURN(RunFacts::Device device, ReadDevice(object, counts));
    facts.devices.push_back(std::move(device));
  }
  return facts;
}

}  // namespace tributary
