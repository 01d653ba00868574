#include "tributary/coordinator/checkpoint_json.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "tributary/experiment/experiment.h"

namespace tributary {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kSchema = 1;
constexpr std::uint64_t kLargestSigned = std::numeric_limits<std::int64_t>::max();

// Numbers that an epoch may be planned from: of each device its size, its delay, and how many samples of each class.
constexpr std::int64_t kMostEpochNumbers = 12 * kMostDevices;
// More than the largest checkpoint allowed has brackets, keys and values.
constexpr std::int64_t kMostParts = 13 * kMostDevices + kMostEpochNumbers;

// What JSON's types do not say. One check for writing and for reading, so that nothing is written that is not read.
std::string FaultOf(const Checkpoint& checkpoint) {
  const auto& accuracy = checkpoint.progress.accuracy;
  if (accuracy && !(*accuracy >= 0 && *accuracy <= 1)) return "its accuracy is not from 0 to 1";
  if (checkpoint.progress.elapsed < Duration(0)) return "its time is before the start";
  if (checkpoint.log_bytes > kLargestSigned) return "its log is longer than any file";
  if (checkpoint.members.size() > static_cast<std::size_t>(kMostDevices)) {
    return "it has more than " + std::to_string(kMostDevices) + " members";
  }
  const EpochState& epoch = checkpoint.progress.epoch;
  if (epoch.number > 0) {
    if (epoch.began > checkpoint.progress.round) return "its epoch begins after its last round";
    if (epoch.number > epoch.began) return "it has begun more epochs than rounds";
    const SamplingProblem& problem = epoch.problem;
    std::size_t numbers = problem.sizes.size() + problem.delays.size();
    for (const auto& counts : problem.label_counts) numbers += counts.size();
    if (numbers > static_cast<std::size_t>(kMostEpochNumbers)) {
      return "its epoch is planned from more than " + std::to_string(kMostEpochNumbers) + " numbers";
    }
    if (const Status status = CheckSamplingProblem(epoch.problem); !status.ok())
      return "of its epoch, " + status.message();
  }
  std::set<std::string_view> names;
  for (const FleetMember& member : checkpoint.members) {
    if (member.samples < 0) return "a member has fewer than 0 samples";
    if (member.applied_position < 0) return "a member is before the beginning of its stream";
    if (!names.insert(member.name).second) return "two of its members have one name";
  }
  return "";
}

// The value under `key`, if it is there and `is` agrees with its type.
StatusOr<const Json*> Field(const Json& object, const char* key, bool (Json::*is)() const noexcept,
                            const char* wanted) {
  const auto found = object.find(key);
  if (found == object.end()) return Corrupt(std::string("it has no '") + key + "'");
  if (!((*found).*is)()) return Corrupt(std::string("its '") + key + "' is not " + wanted);
  return &*found;
}

StatusOr<std::uint64_t> Number(const Json& object, const char* key) {
  TRIBUTARY_ASSIGN_OR_RETURN(const Json* value,
                             Field(object, key, &Json::is_number_unsigned, "a whole number from 0"));
  return value->get<std::uint64_t>();
}

StatusOr<std::int64_t> SignedNumber(const Json& object, const char* key) {
  TRIBUTARY_ASSIGN_OR_RETURN(const std::uint64_t number, Number(object, key));
  if (number > kLargestSigned) return Corrupt(std::string("its '") + key + "' does not fit in 63 bits");
  return static_cast<std::int64_t>(number);
}

StatusOr<std::vector<FleetMember>> ReadMembers(const Json& list, std::uint64_t shared_bytes) {
  std::vector<FleetMember> members;
  for (const Json& item : list) {
    if (!item.is_object()) return Corrupt("one of its 'members' is not an object");
    FleetMember& member = members.emplace_back();
    TRIBUTARY_ASSIGN_OR_RETURN(const Json* name, Field(item, "name", &Json::is_string, "a text"));
    member.name = name->get<std::string>();
    TRIBUTARY_ASSIGN_OR_RETURN(member.samples, SignedNumber(item, "samples"));
    TRIBUTARY_ASSIGN_OR_RETURN(member.applied_round, Number(item, "applied_round"));
    TRIBUTARY_ASSIGN_OR_RETURN(member.applied_position, SignedNumber(item, "applied_position"));
    TRIBUTARY_ASSIGN_OR_RETURN(const std::uint64_t shared, Number(item, "shared_bytes"));
    if (shared > shared_bytes) return Corrupt("its members have shared more than it holds");
    shared_bytes -= shared;
    member.shared.resize(static_cast<std::size_t>(shared));
  }
  return members;
}

template <typename T>
StatusOr<std::vector<T>> Numbers(const Json& object, const char* key) {
  TRIBUTARY_ASSIGN_OR_RETURN(const Json* list, Field(object, key, &Json::is_array, "a list"));
  std::vector<T> numbers;
  for (const Json& item : *list) {
    const bool fits = std::is_floating_point_v<T> ? item.is_number() : item.is_number_integer();
    if (!fits) return Corrupt(std::string("its '") + key + "' is not a list of numbers");
    numbers.push_back(item.get<T>());
  }
  return numbers;
}

// Label counts stand one client behind the other.
StatusOr<EpochState> ReadEpoch(const Json& json) {
  if (!json.is_object()) return Corrupt("its 'epoch' is not an object");
  EpochState epoch;
  TRIBUTARY_ASSIGN_OR_RETURN(epoch.number, Number(json, "number"));
  if (epoch.number == 0) return Corrupt("its epoch has the number 0, and they are counted from 1");
  TRIBUTARY_ASSIGN_OR_RETURN(epoch.began, Number(json, "began"));
  TRIBUTARY_ASSIGN_OR_RETURN(epoch.problem.sizes, Numbers<std::int64_t>(json, "sizes"));
  TRIBUTARY_ASSIGN_OR_RETURN(epoch.problem.delays, Numbers<double>(json, "delays"));
  TRIBUTARY_ASSIGN_OR_RETURN(const auto counts, Numbers<std::int64_t>(json, "label_counts"));
  const std::size_t clients = epoch.problem.sizes.size();
  if (counts.empty()) return epoch;
  if (clients == 0 || counts.size() % clients != 0)
    return Corrupt("its epoch has label counts of half a device");
  for (std::size_t i = 0; i < counts.size(); i += counts.size() / clients) {
    epoch.problem.label_counts.emplace_back(
        counts.begin() + static_cast<std::ptrdiff_t>(i),
        counts.begin() + static_cast<std::ptrdiff_t>(i + counts.size() / clients));
  }
  return epoch;
}

StatusOr<RunProgress> ReadProgress(const Json& root) {
  RunProgress progress;
  TRIBUTARY_ASSIGN_OR_RETURN(progress.round, Number(root, "round"));
  TRIBUTARY_ASSIGN_OR_RETURN(const std::int64_t elapsed, SignedNumber(root, "elapsed_ns"));
  progress.elapsed = Duration(elapsed);
  TRIBUTARY_ASSIGN_OR_RETURN(progress.fruitless_rounds, Number(root, "fruitless_rounds"));
  TRIBUTARY_ASSIGN_OR_RETURN(progress.optimiser_steps, Number(root, "optimiser_steps"));
  if (const auto epoch = root.find("epoch"); epoch != root.end()) {
    TRIBUTARY_ASSIGN_OR_RETURN(progress.epoch, ReadEpoch(*epoch));
  }
  const auto accuracy = root.find("accuracy");
  if (accuracy == root.end()) return Corrupt("it has no 'accuracy'");
  if (accuracy->is_null()) return progress;
  if (!accuracy->is_number()) return Corrupt("its 'accuracy' is neither null nor a number");
  progress.accuracy = accuracy->get<double>();
  return progress;
}

StatusOr<Checkpoint> ReadRoot(const Json& root, std::uint64_t shared_bytes) {
  if (!root.is_object()) return Corrupt("it is not a JSON object");
  TRIBUTARY_ASSIGN_OR_RETURN(const std::uint64_t schema, Number(root, "schema"));
  if (schema != kSchema) return Corrupt("its schema is " + std::to_string(schema) + "; this program reads 1");
  Checkpoint checkpoint;
  TRIBUTARY_ASSIGN_OR_RETURN(checkpoint.progress, ReadProgress(root));
  TRIBUTARY_ASSIGN_OR_RETURN(checkpoint.log_bytes, Number(root, "log_bytes"));
  TRIBUTARY_ASSIGN_OR_RETURN(const Json* members, Field(root, "members", &Json::is_array, "a list"));
  TRIBUTARY_ASSIGN_OR_RETURN(checkpoint.members, ReadMembers(*members, shared_bytes));
  TRIBUTARY_ASSIGN_OR_RETURN(const Json* experiment, Field(root, "experiment", &Json::is_string, "a text"));
  checkpoint.experiment = experiment->get<std::string>();
  if (std::string fault = FaultOf(checkpoint); !fault.empty()) return Corrupt(std::move(fault));
  return checkpoint;
}

}  // namespace

StatusOr<std::string> FormatCheckpoint(const Checkpoint& checkpoint) {
  const RunProgress& progress = checkpoint.progress;
  if (std::string fault = FaultOf(checkpoint); !fault.empty())
    return InvalidArgument("the checkpoint: " + fault);
  using Json = nlohmann::ordered_json;
  Json members = Json::array();
  for (const FleetMember& member : checkpoint.members) {
    members.push_back({{"name", member.name},
                       {"samples", member.samples},
                       {"applied_round", member.applied_round},
                       {"applied_position", member.applied_position},
                       {"shared_bytes", member.shared.size()}});
  }
  Json root = {{"schema", kSchema},
               {"round", progress.round},
               {"elapsed_ns", std::int64_t{progress.elapsed.count()}},
               {"fruitless_rounds", progress.fruitless_rounds},
               {"accuracy", nullptr},
               {"optimiser_steps", progress.optimiser_steps},
               {"log_bytes", checkpoint.log_bytes},
               {"members", std::move(members)},
               {"experiment", checkpoint.experiment}};
  if (progress.accuracy) root["accuracy"] = *progress.accuracy;
  if (const EpochState& epoch = progress.epoch; epoch.number > 0) {
    std::vector<std::int64_t> counts;
    for (const auto& each : epoch.problem.label_counts) counts.insert(counts.end(), each.begin(), each.end());
    root["epoch"] = {{"number", epoch.number},
                     {"began", epoch.began},
                     {"sizes", epoch.problem.sizes},
                     {"delays", epoch.problem.delays},
                     {"label_counts", std::move(counts)}};
  }
  try {
    return root.dump();
  } catch (const nlohmann::json::exception&) {
    return InvalidArgument("a member's name or the experiment is not valid UTF-8, which JSON requires");
  }
}

StatusOr<Checkpoint> ParseCheckpoint(std::string_view json, std::uint64_t shared_bytes) {
  // What has more levels or more parts than any checkpoint is refused while it is read: its tree would take many times
  // the memory of its text.
  bool too_large = false;
  std::int64_t parts = 0;
  const auto watch = [&](int depth, Json::parse_event_t event, Json&) {
    const bool opens =
        event == Json::parse_event_t::array_start || event == Json::parse_event_t::object_start;
    if ((opens && depth > 2) || ++parts > kMostParts) too_large = true;
    return !too_large;
  };
  try {
    const Json root = Json::parse(json.begin(), json.end(), watch, /*allow_exceptions=*/false);
    if (too_large) return Corrupt("it has more levels of brackets, or more parts, than a checkpoint");
    if (root.is_discarded()) return Corrupt("it is not valid JSON");
    return ReadRoot(root, shared_bytes);
  } catch (const nlohmann::json::exception& error) {
    return Corrupt(std::string("it is not valid JSON: ") + error.what());
  }
}

}  // namespace tributary
