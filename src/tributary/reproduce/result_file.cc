#include "tributary/reproduce/result_file.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tributary/base/file.h"
#include "tributary/base/json_reader.h"

namespace tributary::inline reproduce {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kSchema = 1;
constexpr Bytes kLargestFile = {4 << 20};  // larger than the largest valid measurement
constexpr double kLongestRun = 1e6;        // seconds; up to here, nanoseconds are exact

Status CheckMeasurement(const Measurement& measurement) {
  if (measurement.numbers.size() > kMostNumbers) {
    return InvalidArgument("it has " + std::to_string(measurement.numbers.size()) + " numbers; at most " +
                           std::to_string(kMostNumbers) + " are allowed");
  }
  for (const auto& [name, value] : measurement.numbers) {
    if (name.empty() || name.size() > kLongestNumberName) {
      return InvalidArgument("a number has a name of " + std::to_string(name.size()) + " letters; 1 to " +
                             std::to_string(kLongestNumberName) + " are allowed");
    }
    if (!IsUsableNumber(value))
      return InvalidArgument("the number '" + name + "' is not finite or too large");
  }
  if (measurement.curve.size() > kMostCurvePoints) {
    return InvalidArgument("its curve has " + std::to_string(measurement.curve.size()) + " points; at most " +
                           std::to_string(kMostCurvePoints) + " are allowed");
  }
  for (std::size_t i = 0; i < measurement.curve.size(); ++i) {
    const Point& point = measurement.curve[i];
    if (!IsUsableNumber(point.x) || !IsUsableNumber(point.y)) {
      return InvalidArgument("point " + std::to_string(i) + " of its curve is not finite or too large");
    }
    if (i > 0 && point.x < measurement.curve[i - 1].x) {
      return InvalidArgument("point " + std::to_string(i) + " of its curve lies before its predecessor");
    }
  }
  return OkStatus();
}

StatusOr<Measurement> ReadMeasurement(const JsonValue& root) {
  Measurement measurement;
  TRIBUTARY_ASSIGN_OR_RETURN(const JsonValue numbers, root.Object("numbers"));
  for (const auto& [name, value] : numbers.members()) {
    if (!value.is_number()) return Corrupt("one of its 'numbers' is not a number");
    measurement.numbers.emplace(name, value.number());
  }
  TRIBUTARY_ASSIGN_OR_RETURN(const JsonValue curve, root.List("curve"));
  if (curve.size() > kMostCurvePoints) return Corrupt("its 'curve' has too many points");
  measurement.curve.reserve(curve.size());
  for (std::size_t i = 0; i < curve.size(); ++i) {
    const JsonValue point = curve[i];
    if (!point.is_list() || point.size() != 2 || !point[0].is_number() || !point[1].is_number()) {
      return Corrupt("its 'curve' is not a list of pairs of numbers");
    }
    measurement.curve.push_back({point[0].number(), point[1].number()});
  }
  if (const Status status = CheckMeasurement(measurement); !status.ok()) return Corrupt(status.message());
  return measurement;
}

StatusOr<ArmResult> ReadRoot(const JsonValue& root) {
  TRIBUTARY_ASSIGN_OR_RETURN(const std::uint64_t schema, root.Count("schema", "a whole number"));
  if (schema != kSchema) return Corrupt("its schema is " + std::to_string(schema) + "; this program reads 1");
  ArmResult result;
  TRIBUTARY_ASSIGN_OR_RETURN(result.arm, root.Text("arm"));
  TRIBUTARY_ASSIGN_OR_RETURN(result.seed, root.Count("seed"));
  TRIBUTARY_ASSIGN_OR_RETURN(result.fingerprint, root.Text("fingerprint"));
  TRIBUTARY_ASSIGN_OR_RETURN(const double seconds, root.Number("took-seconds"));
  if (!(seconds >= 0 && seconds <= kLongestRun)) return Corrupt("its 'took-seconds' is not a possible time");
  result.took = FromSeconds(seconds);
  TRIBUTARY_ASSIGN_OR_RETURN(result.measurement, ReadMeasurement(root));
  return result;
}

}  // namespace

bool IsUsableNumber(double value) { return std::isfinite(value) && std::abs(value) <= kLargestNumber; }

std::vector<std::string> DropUnusable(Measurement& measurement) {
  std::vector<std::string> dropped;
  std::erase_if(measurement.numbers, [&dropped](const auto& number) {
    if (IsUsableNumber(number.second)) return false;
    dropped.push_back("'" + number.first + "'");
    return true;
  });
  const std::size_t points = std::erase_if(measurement.curve, [](const Point& point) {
    return !IsUsableNumber(point.x) || !IsUsableNumber(point.y);
  });
  if (points > 0) dropped.push_back(std::to_string(points) + " points of the curve");
  return dropped;
}

StatusOr<std::string> FormatArmResult(const ArmResult& result) {
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

StatusOr<ArmResult> ParseArmResult(std::string_view json) {
  TRIBUTARY_ASSIGN_OR_RETURN(const JsonValue root, ParseJson(json, {.what = "a result", .levels = 3}));
  return ReadRoot(root);
}

std::filesystem::path ArmResultPath(const std::filesystem::path& out, const std::string& arm,
                                    std::uint64_t seed) {
  return out / "results" / (arm + "-" + std::to_string(seed) + ".json");
}

StatusOr<ArmResult> ReadArmResult(const std::filesystem::path& path) {
  TRIBUTARY_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, ReadFile(path, kLargestFile));
  auto result = ParseArmResult({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!result.ok()) return std::move(result).status().WithContext(path.string());
  return result;
}

Status WriteArmResult(const std::filesystem::path& path, const ArmResult& result) {
  TRIBUTARY_ASSIGN_OR_RETURN(const std::string text, FormatArmResult(result));
  return WriteFileAtomically(path, text);
}

}  // namespace tributary::inline reproduce
