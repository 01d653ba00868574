#include "tributary/reproduce/result_file.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tributary/base/file.h"

namespace tributary {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchema = 1;
constexpr Bytes kLargestFile = {4 << 20};  // More than the largest measurement allowed takes.
constexpr double kLongestRun = 1e6;        // Seconds; up to here they name a nanosecond exactly.

// The value under `key`, if it is there and `is` agrees with its type.
StatusOr<const Json*> Field(const Json& object, const char* key, bool (Json::*is)() const noexcept,
                            const char* wanted) {
  const auto found = object.find(key);
  if (found == object.end()) return Corrupt(std::string("it has no '") + key + "'");
  if (!((*found).*is)()) return Corrupt(std::string("its '") + key + "' is not " + wanted);
  return &*found;
}

StatusOr<Measurement> ReadMeasurement(const Json& root) {
  Measurement measurement;
  TRIBUTARY_ASSIGN_OR_RETURN(const Json* numbers, Field(root, "numbers", &Json::is_object, "an object"));
  for (const auto& [name, value] : numbers->items()) {
    if (!value.is_number()) return Corrupt("one of its 'numbers' is not a number");
    measurement.numbers.emplace(name, value.get<double>());
  }
  TRIBUTARY_ASSIGN_OR_RETURN(const Json* curve, Field(root, "curve", &Json::is_array, "a list"));
  if (curve->size() > kMostCurvePoints) return Corrupt("its 'curve' has too many points");
  measurement.curve.reserve(curve->size());
  for (const Json& point : *curve) {
    if (!point.is_array() || point.size() != 2 || !point[0].is_number() || !point[1].is_number()) {
      return Corrupt("its 'curve' is not a list of pairs of numbers");
    }
    measurement.curve.push_back({point[0].get<double>(), point[1].get<double>()});
  }
  if (const Status status = CheckMeasurement(measurement); !status.ok()) return Corrupt(status.message());
  return measurement;
}

StatusOr<RunResult> ReadRoot(const Json& root) {
  if (!root.is_object()) return Corrupt("it is not a JSON object");
  TRIBUTARY_ASSIGN_OR_RETURN(const Json* schema,
                             Field(root, "schema", &Json::is_number_unsigned, "a whole number"));
  if (*schema != kSchema) return Corrupt("its schema is " + schema->dump() + "; this program reads 1");
  RunResult result;
  TRIBUTARY_ASSIGN_OR_RETURN(const Json* arm, Field(root, "arm", &Json::is_string, "a text"));
  result.arm = arm->get<std::string>();
  TRIBUTARY_ASSIGN_OR_RETURN(const Json* seed,
                             Field(root, "seed", &Json::is_number_unsigned, "a whole number from 0"));
  result.seed = seed->get<std::uint64_t>();
  TRIBUTARY_ASSIGN_OR_RETURN(const Json* fingerprint, Field(root, "fingerprint", &Json::is_string, "a text"));
  result.fingerprint = fingerprint->get<std::string>();
  TRIBUTARY_ASSIGN_OR_RETURN(const Json* took, Field(root, "took-seconds", &Json::is_number, "a number"));
  const auto seconds = took->get<double>();
  if (!(seconds >= 0 && seconds <= kLongestRun)) return Corrupt("its 'took-seconds' is not a possible time");
  result.took = FromSeconds(seconds);
  TRIBUTARY_ASSIGN_OR_RETURN(result.measurement, ReadMeasurement(root));
  return result;
}

}  // namespace

StatusOr<std::string> FormatRunResult(const RunResult& result) {
  TRIBUTARY_RETURN_IF_ERROR(CheckMeasurement(result.measurement));
  Json curve = Json::array();
  for (const Point& point : result.measurement.curve) curve.push_back(Json::array({point.x, point.y}));
  Json numbers = Json::object();
  for (const auto& [name, value] : result.measurement.numbers) numbers[name] = value;
  const Json root = {{"schema", kSchema},
                     {"arm", result.arm},
                     {"seed", result.seed},
                     {"fingerprint", result.fingerprint},
                     {"took-seconds", std::min(ToSeconds(result.took), kLongestRun)},
                     {"numbers", std::move(numbers)},
                     {"curve", std::move(curve)}};
  try {
    return root.dump() + "\n";
  } catch (const nlohmann::json::exception&) {
    return InvalidArgument("a name or the fingerprint is not valid UTF-8, which JSON requires");
  }
}

StatusOr<RunResult> ParseRunResult(std::string_view json) {
  // Deeper levels than the format has are refused while they are read: a tree of brackets would take many
  // times the memory of its text.
  bool too_deep = false;
  const auto watch = [&too_deep](int depth, Json::parse_event_t event, Json&) {
    const bool opens =
        event == Json::parse_event_t::array_start || event == Json::parse_event_t::object_start;
    if (opens && depth > 2) too_deep = true;
    return !too_deep;
  };
  try {
    const Json root = Json::parse(json.begin(), json.end(), watch, /*allow_exceptions=*/false);
    if (too_deep) return Corrupt("it has more levels of brackets than a result");
    if (root.is_discarded()) return Corrupt("it is not valid JSON");
    return ReadRoot(root);
  } catch (const nlohmann::json::exception& error) {
    return Corrupt(std::string("it is not valid JSON: ") + error.what());
  }
}

std::filesystem::path RunResultPath(const std::filesystem::path& out, const std::string& arm,
                                    std::uint64_t seed) {
  return out / "results" / (arm + "-" + std::to_string(seed) + ".json");
}

StatusOr<RunResult> ReadRunResult(const std::filesystem::path& path) {
  TRIBUTARY_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, ReadFile(path, kLargestFile));
  auto result = ParseRunResult({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!result.ok()) return std::move(result).status().WithContext(path.string());
  return result;
}

Status WriteRunResult(const std::filesystem::path& path, const RunResult& result) {
  TRIBUTARY_ASSIGN_OR_RETURN(const std::string text, FormatRunResult(result));
  return WriteFileAtomically(path, text);
}

}  // namespace tributary
