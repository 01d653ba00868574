#include <algorithm>

#include "tributary/experiment/sections.h"
#include "tributary/experiment/trace_file.h"

namespace tributary {
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

}  // namespace tributary
