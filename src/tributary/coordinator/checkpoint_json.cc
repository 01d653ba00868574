#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "tributary/base/json_reader.h"
#include "tributary/coordinator/checkpoint.h"
#include "tributary/experiment/experiment.h"
#include "tributary/policy/trust/trust.h"

namespace tributary::inline coordinator {
namespace {

constexpr std::uint64_t kSchema = 1;
struct NamedStanding {
  Standing standing;
  const char* name;
};
constexpr std::array<NamedStanding, 3> kStandings = {{{Standing::kDropped, "dropped"},
                                                      {Standing::kBanned, "banned"},
                                                      {Standing::kQuarantined, "quarantined"}}};
constexpr std::uint64_t kLargestSigned = std::numeric_limits<std::int64_t>::max();

// Limit for the numbers of an epoch's problem: size, delay and class counts of each device.
constexpr std::int64_t kMostEpochNumbers = 12 * kMostDevices;
// More brackets, keys and values than any allowed checkpoint has.
constexpr std::int64_t kMostParts = 16 * kMostDevices + kMostEpochNumbers;

// Larger than the norm of any update that is accepted.
constexpr double kLargestNorm = 1e30;

// Constraints beyond JSON's types, checked for writing and reading, so that everything written can be read.
std::string FaultOf(const Checkpoint& checkpoint) {
  const auto& accuracy = checkpoint.progress.accuracy;
  if (accuracy && !(*accuracy >= 0 && *accuracy <= 1)) return "its accuracy is not from 0 to 1";
  if (checkpoint.progress.elapsed < Duration(0)) return "its time is before the start";
  if (checkpoint.log_bytes > kLargestSigned) return "its log is longer than any file";
  if (checkpoint.members.size() > static_cast<std::size_t>(kMostDevices))
    return fmt::format("it has more than {} members", kMostDevices);
  const std::vector<double>& norms = checkpoint.progress.norms;
  if (norms.size() > NormHistory::kRounds) return "it has norms of too many rounds";
  if (!std::ranges::all_of(norms, [](double norm) { return norm >= 0 && norm <= kLargestNorm; }))
    return "one of its norms cannot be that of an update";
  const DivergenceGuard::State& guard = checkpoint.progress.guard;
  const auto is_loss = [](double loss) { return loss >= 0 && loss <= std::numeric_limits<double>::max(); };
  if (guard.losses.size() > DivergenceGuard::kRounds || !std::ranges::all_of(guard.losses, is_loss))
    return "its last losses cannot be those of a run";
  if (!std::ranges::all_of(guard.parts, [&](const auto& part) { return is_loss(part.second); }))
    return "a device's part in a round is none";
  if (guard.parts.size() > static_cast<std::size_t>(kMostDevices))
    return "it knows the parts of too many devices";
  if (checkpoint.progress.sound_round > checkpoint.progress.round)
    return "its sound weights are from a later round";
  const EpochState& epoch = checkpoint.progress.epoch;
  if (epoch.number > 0) {
    if (epoch.began > checkpoint.progress.round) return "its epoch begins after its last round";
    if (epoch.number > epoch.began) return "it has begun more epochs than rounds";
    const SamplingProblem& problem = epoch.problem;
    std::size_t numbers = problem.sizes.size() + problem.delays.size();
    for (const auto& counts : problem.label_counts) numbers += counts.size();
    if (numbers > static_cast<std::size_t>(kMostEpochNumbers))
      return fmt::format("its epoch is planned from more than {} numbers", kMostEpochNumbers);
    if (const Status status = CheckSamplingProblem(epoch.problem); !status.ok())
      return "of its epoch, " + status.message();
  }
  std::set<std::string_view> names;
  for (const FleetMember& member : checkpoint.members) {
    if (member.samples < 0) return "a member has fewer than 0 samples";
    if (member.applied_position < 0) return "a member has a negative stream position";
    if (!names.insert(member.name).second) return "two of its members have one name";
  }
  return "";
}

StatusOr<std::int64_t> SignedNumber(const JsonValue& object, const char* key) {
  TRIBUTARY_ASSIGN_OR_RETURN(const std::uint64_t number, object.Count(key));
  if (number > kLargestSigned) return Corrupt(std::string("its '") + key + "' does not fit in 63 bits");
  return static_cast<std::int64_t>(number);
}

StatusOr<std::vector<FleetMember>> ReadMembers(const JsonValue& list, std::uint64_t shared_bytes) {
  std::vector<FleetMember> members;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const JsonValue item = list[i];
    if (!item.is_object()) return Corrupt("one of its 'members' is not an object");
    FleetMember& member = members.emplace_back();
    TRIBUTARY_ASSIGN_OR_RETURN(member.name, item.Text("name"));
    TRIBUTARY_ASSIGN_OR_RETURN(member.samples, SignedNumber(item, "samples"));
    TRIBUTARY_ASSIGN_OR_RETURN(member.applied_round, item.Count("applied_round"));
    TRIBUTARY_ASSIGN_OR_RETURN(member.applied_position, SignedNumber(item, "applied_position"));
    TRIBUTARY_ASSIGN_OR_RETURN(const std::uint64_t shared, item.Count("shared_bytes"));
    if (shared > shared_bytes) return Corrupt("its members have shared more than it holds");
    shared_bytes -= shared;
    member.shared.resize(static_cast<std::size_t>(shared));
    if (!item.Has("standing")) continue;  // Written of members that have been removed.
    TRIBUTARY_ASSIGN_OR_RETURN(const std::string standing, item.Text("standing"));
    const auto named = std::ranges::find(kStandings, standing, &NamedStanding::name);
    if (named == kStandings.end())
      return Corrupt("the 'standing' of a member is '" + standing +
                     "'; allowed: dropped, banned, quarantined");
    member.standing = named->standing;
  }
  return members;
}

// Label counts are stored client after client.
StatusOr<EpochState> ReadEpoch(const JsonValue& json) {
  if (!json.is_object()) return Corrupt("its 'epoch' is not an object");
  EpochState epoch;
  TRIBUTARY_ASSIGN_OR_RETURN(epoch.number, json.Count("number"));
  if (epoch.number == 0) return Corrupt("its epoch has the number 0, and they are counted from 1");
  TRIBUTARY_ASSIGN_OR_RETURN(epoch.began, json.Count("began"));
  TRIBUTARY_ASSIGN_OR_RETURN(epoch.problem.sizes, json.Integers("sizes"));
  TRIBUTARY_ASSIGN_OR_RETURN(epoch.problem.delays, json.Numbers("delays"));
  TRIBUTARY_ASSIGN_OR_RETURN(const auto counts, json.Integers("label_counts"));
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

Status ReadGuard(const JsonValue& json, RunProgress& progress) {
  if (!json.is_object()) return Corrupt("its 'guard' is not an object");
  TRIBUTARY_ASSIGN_OR_RETURN(progress.guard.losses, json.Numbers("losses"));
  TRIBUTARY_ASSIGN_OR_RETURN(progress.guard.high, json.Count("high"));
  TRIBUTARY_ASSIGN_OR_RETURN(const std::vector<std::int64_t> devices, json.Integers("devices"));
  TRIBUTARY_ASSIGN_OR_RETURN(const std::vector<double> parts, json.Numbers("parts"));
  if (devices.size() != parts.size()) return Corrupt("its 'guard' has parts of other devices than it names");
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (devices[i] < 0 ||
        !progress.guard.parts.emplace(DeviceId{static_cast<std::uint64_t>(devices[i])}, parts[i]).second)
      return Corrupt("a device of its 'guard' is negative or named twice");
  }
  TRIBUTARY_ASSIGN_OR_RETURN(progress.sound_round, json.Count("sound_round"));
  TRIBUTARY_ASSIGN_OR_RETURN(const std::uint64_t has_sound, json.Count("has_sound"));
  progress.has_sound = has_sound > 0;
  return OkStatus();
}

StatusOr<RunProgress> ReadProgress(const JsonValue& root) {
  RunProgress progress;
  TRIBUTARY_ASSIGN_OR_RETURN(progress.round, root.Count("round"));
  TRIBUTARY_ASSIGN_OR_RETURN(const std::int64_t elapsed, SignedNumber(root, "elapsed_ns"));
  progress.elapsed = Duration(elapsed);
  TRIBUTARY_ASSIGN_OR_RETURN(progress.fruitless_rounds, root.Count("fruitless_rounds"));
  if (root.Has("unapplied_rounds")) {  // missing in checkpoints of older versions
    TRIBUTARY_ASSIGN_OR_RETURN(progress.unapplied_rounds, root.Count("unapplied_rounds"));
  }
  if (progress.unapplied_rounds > progress.round)
    return Corrupt("it has more rounds that were not applied than rounds");
  TRIBUTARY_ASSIGN_OR_RETURN(progress.optimiser_steps, root.Count("optimiser_steps"));
  if (root.Has("norms")) {
    TRIBUTARY_ASSIGN_OR_RETURN(progress.norms, root.Numbers("norms"));
  }
  if (const auto guard = root.Find("guard")) {
    TRIBUTARY_RETURN_IF_ERROR(ReadGuard(*guard, progress));
  }
  if (const auto epoch = root.Find("epoch")) {
    TRIBUTARY_ASSIGN_OR_RETURN(progress.epoch, ReadEpoch(*epoch));
  }
  const auto accuracy = root.Find("accuracy");
  if (!accuracy) return Corrupt("it has no 'accuracy'");
  if (accuracy->is_null()) return progress;
  if (!accuracy->is_number()) return Corrupt("its 'accuracy' is neither null nor a number");
  progress.accuracy = accuracy->number();
  return progress;
}

StatusOr<Checkpoint> ReadCheckpointJson(const JsonValue& root, std::uint64_t shared_bytes) {
  TRIBUTARY_ASSIGN_OR_RETURN(const std::uint64_t schema, root.Count("schema"));
  if (schema != kSchema) return Corrupt(fmt::format("its schema is {}; this program reads 1", schema));
  Checkpoint checkpoint;
  TRIBUTARY_ASSIGN_OR_RETURN(checkpoint.progress, ReadProgress(root));
  TRIBUTARY_ASSIGN_OR_RETURN(checkpoint.log_bytes, root.Count("log_bytes"));
  TRIBUTARY_ASSIGN_OR_RETURN(const JsonValue members, root.List("members"));
  TRIBUTARY_ASSIGN_OR_RETURN(checkpoint.members, ReadMembers(members, shared_bytes));
  TRIBUTARY_ASSIGN_OR_RETURN(checkpoint.experiment, root.Text("experiment"));
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
    const auto named = std::ranges::find(kStandings, member.standing, &NamedStanding::standing);
    if (named != kStandings.end()) members.back()["standing"] = named->name;
  }
  Json root = {{"schema", kSchema},
               {"round", progress.round},
               {"elapsed_ns", std::int64_t{progress.elapsed.count()}},
               {"fruitless_rounds", progress.fruitless_rounds},
               {"unapplied_rounds", progress.unapplied_rounds},
               {"accuracy", nullptr},
               {"optimiser_steps", progress.optimiser_steps},
               {"log_bytes", checkpoint.log_bytes},
               {"members", std::move(members)},
               {"experiment", checkpoint.experiment}};
  if (progress.accuracy) root["accuracy"] = *progress.accuracy;
  if (!progress.norms.empty()) root["norms"] = progress.norms;
  const DivergenceGuard::State& guard = progress.guard;
  if (guard != DivergenceGuard::State() || progress.sound_round > 0 || progress.has_sound) {
    Json devices = Json::array(), parts = Json::array();
    for (const auto& [device, part] : guard.parts) {
      devices.push_back(device.value);
      parts.push_back(part);
    }
    root["guard"] = {{"losses", guard.losses},
                     {"high", guard.high},
                     {"devices", std::move(devices)},
                     {"parts", std::move(parts)},
                     {"sound_round", progress.sound_round},
                     {"has_sound", progress.has_sound ? 1 : 0}};
  }
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
  TRIBUTARY_ASSIGN_OR_RETURN(const JsonValue root,
                             ParseJson(json, {.what = "a checkpoint", .levels = 3, .parts = kMostParts}));
  return ReadCheckpointJson(root, shared_bytes);
}

}  // namespace tributary::inline coordinator
