#include <algorithm>

#include "tributary/base/names.h"
#include "tributary/experiment/programme_text.h"
#include "tributary/experiment/sections.h"
#include "tributary/experiment/trace_file.h"

namespace tributary::inline experiment {
namespace {

void ReadField(Section& section, const GroupField& field, Group& group) {
  if (field.required) section.Require(field.key);
  const Value* value = section.Take(field.key);
  if (value == nullptr) return;
  auto parsed = ParseDistribution(*value, field.unit, field.allowed);
  if (parsed.ok()) {
    group.*field.member = std::move(parsed).value();
  } else {
    section.Fail(*value, field.key, ": " + parsed.status().message());
  }
}

// Rates in a list are those of the devices, one by one. Other lists are dealt in turn; but a vector of rates that was
// meant for another number of devices would silently be another setting.
void CheckRates(Section& section, const Group& group) {
  const Distribution& rates = group.stream_rate;
  if (rates.kind != Distribution::Kind::kList) return;
  const auto given = static_cast<std::int64_t>(rates.numbers.size());
  if (given == group.count) return;
  section.Fail("stream-rate", " has " + std::to_string(given) + " rates for the " +
                                  std::to_string(group.count) +
                                  " devices of the group; give one for each device, or one for all");
}

void ReadProgramme(Section& section, Group& group) {
  section.Read("stream-programme", group.stream_programme);
  section.OnlyWith("stream-programme", group.stream_rate != Distribution::Constant(0), "a stream-rate");
  if (group.stream_programme.empty()) return;
  if (const auto steps = ParseRateSteps(group.stream_programme); !steps.ok()) {
    section.Fail("stream-programme", ": " + steps.status().message());
  }
}

}  // namespace

Status ReadGroup(Section section, const FleetContext& context, Group& group) {
  section.Read("name", group.name);
  if (!IsPlainName(group.name)) {
    section.Fail("name", " is \"" + group.name + "\"; allowed: " + std::string(kPlainName));
  }
  section.Require("count");
  section.Read("count", group.count, 1, kMostDevices);
  for (const GroupField& field : kGroupFields) ReadField(section, field, group);
  if (!section.Has("downlink")) group.downlink = group.uplink;
  CheckRates(section, group);
  ReadProgramme(section, group);
  ReadAvailability(section, "availability", context, group.availability);
  return section.Finish();
}

namespace {

constexpr std::int64_t kMostServers = 1024;
constexpr std::size_t kMostGroups = 1000;

Status ReadServer(Section section, Server& server, std::int64_t* count) {
  if (count != nullptr) section.Read("count", *count, 1, kMostServers);
  section.Read("up", server.up);
  section.Read("down", server.down);
  return section.Finish();
}

// servers = [{ up, down }, …], or { count, up, down } for equal ones.
void ReadServers(Section& section, std::vector<Server>& servers) {
  const Value* value = section.Take("servers");
  if (value == nullptr) return;
  if (std::holds_alternative<Table>(value->content)) {
    Server server;
    std::int64_t count = 1;
    section.Fail(ReadServer(Section(section.document(), *value, section.PathOf("servers")), server, &count));
    servers.assign(static_cast<std::size_t>(count), server);
    return;
  }
  const auto* list = std::get_if<List>(&value->content);
  if (list == nullptr || list->empty() || static_cast<std::int64_t>(list->size()) > kMostServers) {
    section.Fail("servers", " is " + Describe(*value) + "; allowed: a list of 1 to " +
                                std::to_string(kMostServers) +
                                " tables { up = …, down = … }, or one table { count = …, up = …, down = … }");
    return;
  }
  servers.clear();
  for (const Value& item : *list) {
    const std::string path = section.PathOf("servers") + "." + std::to_string(servers.size());
    section.Fail(ReadServer(Section(section.document(), item, path), servers.emplace_back(), nullptr));
  }
}

void CheckCounts(Section& section, const FleetChoice& fleet) {
  const std::int64_t total = TotalDevices(fleet);
  if (total > kMostDevices) {
    section.Fail("group", " has " + std::to_string(total) + " devices in all; allowed: at most " +
                              std::to_string(kMostDevices));
    return;
  }
  const auto* asked = std::get_if<std::int64_t>(&fleet.participation.amount);
  if (asked != nullptr && *asked > total) {
    section.Fail("participation",
                 " asks for " + std::to_string(*asked) + " devices; the fleet has " + std::to_string(total));
    return;
  }
  const auto* needed = std::get_if<std::int64_t>(&fleet.quorum.amount);
  const std::int64_t round = fleet.participation.Of(total);
  if (needed != nullptr && *needed > round) {
    section.Fail("quorum", " needs " + std::to_string(*needed) + " devices; a round asks only " +
                               std::to_string(round));
  }
}

void CheckTraces(Section& section, const FleetChoice& fleet) {
  std::size_t steps = 0;
  for (const Group& group : fleet.groups) {
    const auto* trace = std::get_if<std::shared_ptr<const Trace>>(&group.availability);
    if (trace != nullptr) steps += (*trace)->steps().size();
    if (steps <= kMostTraceSteps) continue;
    section.Fail("group", " has more than " + std::to_string(kMostTraceSteps) +
                              " steps in its traces, all groups together");
    return;
  }
}

}  // namespace

std::int64_t TotalDevices(const FleetChoice& fleet) {
  std::int64_t total = 0;
  for (const Group& group : fleet.groups) total += group.count;
  return total;
}

Status ReadFleet(Section section, const FleetContext& context, FleetChoice& fleet) {
  ReadServers(section, fleet.servers);
  section.Read("participation", fleet.participation);
  section.Read("deadline", fleet.deadline, Range{.high = kLongestSeconds, .above_low = true});
  section.Read("quorum", fleet.quorum);
  section.Require("group", "; a fleet needs at least one [[fleet.group]]");
  const List& groups = section.TakeTables("group");
  if (groups.size() > kMostGroups) {
    section.Fail("group", " is a list of " + std::to_string(groups.size()) + "; allowed: at most " +
                              std::to_string(kMostGroups));
    return section.Finish();
  }
  for (const Value& item : groups) {
    const std::string number = std::to_string(fleet.groups.size());
    Group& group = fleet.groups.emplace_back();
    group.name = "group-" + number;
    section.Fail(
        ReadGroup(Section(section.document(), item, section.PathOf("group") + "." + number), context, group));
    const auto first = std::find_if(fleet.groups.begin(), fleet.groups.end(),
                                    [&](const Group& other) { return other.name == group.name; });
    if (&*first != &group) {
      section.Fail(item, "group." + number + ".name",
                   " is \"" + group.name + "\", the name of another group");
    }
  }
  if (section.Has("group") && fleet.groups.empty())
    section.Fail("group", " is empty; a fleet needs at least one");
  if (!fleet.groups.empty()) CheckCounts(section, fleet);
  CheckTraces(section, fleet);
  return section.Finish();
}

namespace {

constexpr std::string_view kGroupPrefix = "group:";

bool IsWord(const Value* value, std::string_view word) {
  const auto* text = value == nullptr ? nullptr : std::get_if<std::string>(&value->content);
  return text != nullptr && *text == word;
}

void ReadDevices(Section& section, const FleetChoice& fleet, Disturbance& disturbance) {
  const Value* value = section.Take("devices");
  if (value == nullptr || IsWord(value, "all")) return;
  const auto* text = std::get_if<std::string>(&value->content);
  if (text != nullptr && text->starts_with(kGroupPrefix)) {
    std::vector<std::string> groups;
    for (const Group& group : fleet.groups) groups.push_back(group.name);
    std::string name = text->substr(kGroupPrefix.size());
    if (std::find(groups.begin(), groups.end(), name) == groups.end()) {
      section.Fail("devices", ": " + UnknownName("group", name, groups).message());
    }
    disturbance.devices = std::move(name);
  } else if (std::holds_alternative<List>(value->content)) {
    std::vector<std::int64_t> numbers;
    section.Read("devices", numbers, 0, TotalDevices(fleet) - 1);
    std::vector<DeviceId> ids;
    for (const std::int64_t number : numbers) ids.push_back({static_cast<std::uint64_t>(number)});
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    disturbance.devices = std::move(ids);
  } else {
    section.Fail("devices", " is " + Describe(*value) +
                                "; allowed: \"all\", \"group:NAME\", or a list of numbers of devices");
  }
}

void ReadRounds(Section& section, Disturbance& disturbance) {
  const Value* value = section.Take("rounds");
  if (value == nullptr || IsWord(value, "all")) return;
  if (!std::holds_alternative<List>(value->content)) {
    section.Fail("rounds",
                 " is " + Describe(*value) + "; allowed: \"all\", or a list of rounds, the first being 1");
    return;
  }
  std::vector<std::int64_t> numbers;
  section.Read("rounds", numbers, 1, kMostRounds);
  std::vector<RoundId>& rounds = disturbance.rounds.emplace();
  for (const std::int64_t number : numbers) rounds.push_back({static_cast<std::uint64_t>(number)});
  std::sort(rounds.begin(), rounds.end());
  rounds.erase(std::unique(rounds.begin(), rounds.end()), rounds.end());
}

}  // namespace

Status ReadDisturbance(Section section, const FleetChoice& fleet, Disturbance& disturbance) {
  section.Require("kind");
  section.ReadWord("kind", kDisturbances, disturbance.kind);
  ReadDevices(section, fleet, disturbance);
  section.Read("share", disturbance.share, kPositiveShare);
  ReadRounds(section, disturbance);
  const bool slow = disturbance.kind == DisturbanceKind::kSlow;
  section.Read("factor", disturbance.factor, Range{.low = 1, .high = 1e6, .above_low = true});
  section.OnlyWith("factor", slow, "kind = \"slow\"");
  if (slow) section.Require("factor", "; with kind = \"slow\" it says how many times slower");
  return section.Finish();
}

}  // namespace tributary::inline experiment
