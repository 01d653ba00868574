// [fleet], [[fleet.group]] and [[disturbance]].
#include <algorithm>
#include <cmath>

#include "tributary/base/names.h"
#include "tributary/experiment/forms.h"
#include "tributary/experiment/options.h"
#include "tributary/experiment/programme_text.h"
#include "tributary/experiment/trace_file.h"

namespace tributary::inline experiment {
namespace {

constexpr std::int64_t kMostServers = 1024;
constexpr std::size_t kMostGroups = 1000;

OptionList ServerKeys(Server& server, std::int64_t* count) {
  OptionList list;
  if (count != nullptr) list.Add("count", Whole(*count, {1, kMostServers}), "Number of equal servers.");
  list.Add("up", Rate(server.up), "What a server can receive from devices.");
  list.Add("down", Rate(server.down), "What a server can send to devices.");
  return list;
}

// servers = [{ up, down }, …], or { count, up, down } for equal ones.
ValueForm ServersForm(std::vector<Server>& servers) {
  const auto read = [&servers](const Value& value, const Spot& spot) {
    if (std::holds_alternative<Table>(value.content)) {
      Server server;
      std::int64_t count = 1;
      TRIBUTARY_RETURN_IF_ERROR(ServerKeys(server, &count).Read(spot.document, value, spot.path));
      servers.assign(static_cast<std::size_t>(count), server);
      return OkStatus();
    }
    const auto* list = std::get_if<List>(&value.content);
    if (list == nullptr || list->empty() || static_cast<std::int64_t>(list->size()) > kMostServers) {
      return spot.RefuseAs(value,
                           "a list of 1 to " + std::to_string(kMostServers) +
                               " tables { up = …, down = … }, or one table { count = …, up = …, down = … }");
    }
    servers.assign(list->size(), Server{});
    for (std::size_t i = 0; i < servers.size(); ++i) {
      TRIBUTARY_RETURN_IF_ERROR(ServerKeys(servers[i], nullptr)
                                    .Read(spot.document, (*list)[i], spot.path + "." + std::to_string(i)));
    }
    return OkStatus();
  };
  const auto write = [&servers] {
    auto count = static_cast<std::int64_t>(servers.size());
    const bool equal = std::ranges::all_of(servers, [&](const Server& s) { return s == servers[0]; });
    if (equal) return ServerKeys(servers[0], &count).WriteInline();
    return WriteList(servers, [](Server server) { return ServerKeys(server, nullptr).WriteInline(); });
  };
  const auto sample = [] {
    static Server server;
    static std::int64_t count = 1;
    return std::vector<OptionList>{ServerKeys(server, &count)};
  };
  const auto allowed = [sample]() -> Allowed {
    const std::string table = "{" + sample()[0].Schema() + "}";
    return {"a table for equal servers, or a list of tables",
            "\"anyOf\": [" + table + ", {\"type\": \"array\", \"minItems\": 1, \"maxItems\": " +
                std::to_string(kMostServers) + ", \"items\": " + table + "}]"};
  };
  return {.field = &servers, .read = read, .write = write, .allowed = allowed, .tables = sample};
}

// A list of rates has one rate per device. Other lists are assigned in turn, but a list of rates for another
// number of devices would silently change the experiment.
void CheckStream(OptionList& mistakes, const Group& group) {
  const auto given = static_cast<std::int64_t>(group.stream_rate.numbers.size());
  if (group.stream_rate.kind == Distribution::Kind::kList && given != group.count) {
    mistakes.Fail(&group.stream_rate, " has " + std::to_string(given) + " rates for the " +
                                          std::to_string(group.count) +
                                          " devices of the group; give one for each device, or one for all");
  }
  if (group.stream_programme.empty()) return;
  if (const auto steps = ParseRateSteps(group.stream_programme); !steps.ok())
    mistakes.Fail(&group.stream_programme, ": " + steps.status().message());
}

// A trace that ends within the run would silently remove the device, so the user must ask for it.
void CheckLasts(OptionList& mistakes, const Group& group, const Goal& goal) {
  const auto* trace = std::get_if<std::shared_ptr<const Trace>>(&group.availability);
  if (trace == nullptr || (*trace)->after() != Trace::After::kEnd) return;
  const TimePoint end = (*trace)->end();
  if (goal.time_budget && end >= *goal.time_budget) return;
  mistakes.Fail(&group.availability, ".trace ends after " + FormatExactly(end) + ", and the run " +
                                         (goal.time_budget ? "may last " + FormatExactly(*goal.time_budget) +
                                                                 " (experiment.time-budget)"
                                                           : std::string("has no time budget")) +
                                         "; say what comes then: after = \"hold\" or \"repeat\"");
}

OptionList GroupKeys(Group& group, const Experiment& e, const OptionContext& context) {
  const std::vector<Group>& groups = e.fleet.groups;
  OptionList list;
  list.Add(kNameKey, PlainName(group.name), "Name of the group.")
      .Otherwise([&] { group.name = "group-" + std::to_string(&group - groups.data()); },
                 "\"group-0\", \"group-1\", …");
  list.Add("count", Whole(group.count, {1, kMostDevices}), "Number of devices.").Required();
  for (const GroupField& field : kGroupFields) {
    Option& option = list.Add(field.key, Spread(group.*field.member, field.unit, field.allowed), field.doc);
    if (field.required) option.Required();
    if (field.member == &Group::downlink) {
      option.Otherwise([&group] { group.downlink = group.uplink; }, "as uplink, drawn separately");
    }
  }
  list.Add("stream-programme", Text(group.stream_programme),
           "How the stream rate changes over time: hold, stop, drift, sine, burst, repeat.")
      .OnlyWith([&group] { return group.stream_rate != Distribution::Constant(0); }, "a stream-rate")
      .Example("\"drift:1:4:10min,stop:1min,repeat\"");
  list.Add("availability", AvailabilityForm(group.availability, context),
           "Share of the compute rate that is available over time.");
  list.Check([&group, &e](OptionList& mistakes) {
    const auto first = std::ranges::find(e.fleet.groups, group.name, &Group::name);
    if (&*first != &group)
      mistakes.Fail(&group.name, " is \"" + group.name + "\", the name of another group");
    CheckStream(mistakes, group);
    CheckLasts(mistakes, group, e.goal);
  });
  return list;
}

void CheckCounts(OptionList& mistakes, const FleetChoice& fleet) {
  const std::int64_t total = TotalDevices(fleet);
  if (total > kMostDevices) {
    mistakes.Fail(&fleet.groups, " has " + std::to_string(total) + " devices in all; allowed: at most " +
                                     std::to_string(kMostDevices));
    return;
  }
  const auto* asked = std::get_if<std::int64_t>(&fleet.participation.amount);
  if (asked != nullptr && *asked > total) {
    mistakes.Fail(&fleet.participation,
                  " asks for " + std::to_string(*asked) + " devices; the fleet has " + std::to_string(total));
    return;
  }
  const auto* needed = std::get_if<std::int64_t>(&fleet.quorum.amount);
  const std::int64_t round = fleet.participation.Of(total);
  if (needed != nullptr && *needed > round) {
    mistakes.Fail(&fleet.quorum, " needs " + std::to_string(*needed) + " devices; a round asks only " +
                                     std::to_string(round));
  }
}

void CheckTraces(OptionList& mistakes, const FleetChoice& fleet) {
  std::size_t steps = 0;
  for (const Group& group : fleet.groups) {
    const auto* trace = std::get_if<std::shared_ptr<const Trace>>(&group.availability);
    if (trace != nullptr) steps += (*trace)->steps().size();
  }
  if (steps <= kMostTraceSteps) return;
  mistakes.Fail(&fleet.groups, " has more than " + std::to_string(kMostTraceSteps) +
                                   " steps in its traces, all groups together");
}

}  // namespace

std::int64_t TotalDevices(const FleetChoice& fleet) {
  std::int64_t total = 0;
  for (const Group& group : fleet.groups) total += group.count;
  return total;
}

OptionList FleetKeys(Experiment& e, const OptionContext& context) {
  FleetChoice& fleet = e.fleet;
  OptionList list;
  list.Add("servers", ServersForm(fleet.servers),
           "Parameter servers: each holds an equal range of the parameters' bytes.");
  list.Add("participation", Part(fleet.participation),
           "Devices asked in each round, redrawn every round: 10 is a number, 0.5 a share.");
  list.Add("deadline", Time(fleet.deadline, {.high = kLongestSeconds, .above_low = true}),
           "Ends a round; what arrives later is not used.");
  list.Add("quorum", Part(fleet.quorum),
           "Devices asked that must have answered for a round to count: 10 is a number, 0.5 a share.");
  list.Add("group",
           Sections(fleet.groups, kMostGroups,
                    [&e, &context](Group& group) { return GroupKeys(group, e, context); }),
           "Devices that differ only in random draws.")
      .Required("; a fleet needs at least one [[fleet.group]]");
  list.Check([&fleet](OptionList& mistakes) {
    if (fleet.groups.empty()) {
      mistakes.Fail(&fleet.groups, " is empty; a fleet needs at least one");
    } else {
      CheckCounts(mistakes, fleet);
    }
    CheckTraces(mistakes, fleet);
  });
  return list;
}

namespace {

constexpr std::string_view kAll = "all";
constexpr std::string_view kGroupPrefix = "group:";

template <typename Id>
std::vector<Id> SortedIds(const std::vector<std::int64_t>& numbers) {
  std::vector<Id> ids;
  for (const std::int64_t number : numbers) ids.push_back({static_cast<std::uint64_t>(number)});
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

template <typename Id>
std::string WriteIds(const std::vector<Id>& ids) {
  return WriteList(ids, [](Id id) { return std::to_string(id.value); });
}

bool IsAll(const Value& value) {
  const auto* text = std::get_if<std::string>(&value.content);
  return text != nullptr && *text == kAll;
}

ValueForm DevicesForm(Disturbance& disturbance, const FleetChoice& fleet) {
  auto& devices = disturbance.devices;
  return Own(
      &devices,
      {"\"all\", \"group:NAME\", or a list of numbers of devices", "\"string\", \"array\"",
       "\"all\", [0, 3]"},
      [&devices, &fleet](const Value& value, const Spot& spot) {
        const auto* text = std::get_if<std::string>(&value.content);
        if (std::holds_alternative<List>(value.content)) {
          TRIBUTARY_ASSIGN_OR_RETURN(const auto numbers,
                                     ReadWholes(value, spot, {0, TotalDevices(fleet) - 1}));
          devices = SortedIds<DeviceId>(numbers);
        } else if (text != nullptr && text->starts_with(kGroupPrefix)) {
          devices = text->substr(kGroupPrefix.size());
        } else if (!IsAll(value)) {
          return spot.RefuseAs(value, "\"all\", \"group:NAME\", or a list of numbers of devices");
        }
        return OkStatus();
      },
      [&devices] {
        if (const auto* group = std::get_if<std::string>(&devices))
          return Quoted(std::string(kGroupPrefix) + *group);
        const auto* ids = std::get_if<std::vector<DeviceId>>(&devices);
        return ids != nullptr ? WriteIds(*ids) : Quoted(kAll);
      });
}

ValueForm RoundsForm(std::optional<std::vector<RoundId>>& rounds) {
  return Own(
      &rounds,
      {"\"all\", or a list of rounds, the first being 1", "\"string\", \"array\"", "\"all\", [2, 5]"},
      [&rounds](const Value& value, const Spot& spot) {
        if (IsAll(value)) return OkStatus();
        if (!std::holds_alternative<List>(value.content))
          return spot.RefuseAs(value, "\"all\", or a list of rounds, the first being 1");
        TRIBUTARY_ASSIGN_OR_RETURN(const auto numbers, ReadWholes(value, spot, {1, kMostRounds}));
        rounds = SortedIds<RoundId>(numbers);
        return OkStatus();
      },
      [&rounds] { return rounds ? WriteIds(*rounds) : Quoted(kAll); });
}

}  // namespace

OptionList DisturbanceKeys(Disturbance& disturbance, const Experiment& experiment) {
  const FleetChoice& fleet = experiment.fleet;
  OptionList list;
  const auto slow = [&disturbance] { return disturbance.kind == DisturbanceKind::kSlow; };
  const auto hostile = [&disturbance] { return disturbance.kind == DisturbanceKind::kAttack; };
  list.Add("kind", OneOf(disturbance.kind, kDisturbances), "What goes wrong.").Required();
  list.Add("devices", DevicesForm(disturbance, fleet), "The devices that it can affect.");
  list.Add("share", Number(disturbance.share, kPositiveShare), "Share of those devices, drawn each round.");
  list.Add("rounds", RoundsForm(disturbance.rounds), "The rounds in which it happens.");
  list.Add("factor", Number(disturbance.factor, {.low = 1, .high = 1e6, .above_low = true}),
           "Factor by which the devices compute slower.")
      .OnlyWith(slow, "kind = \"slow\"")
      .RequiredIf(slow, "; with kind = \"slow\" it says how many times slower");
  list.Add("attack", OneOf(disturbance.attack.kind, kAttacks),
           "What the devices do: send minus or plus strength times their update, or uniform noise of at most "
           "strength times its root mean square (noise); learn with every class called the class strength "
           "later (label-shift); or all send the mean of their updates less strength standard deviations "
           "(alie), or -strength times the mean (ipm).")
      .OnlyWith(hostile, "kind = \"attack\"");
  list.Add("strength", Number(disturbance.attack.strength, {.low = 0, .high = 1e6, .above_low = true}),
           "How strong the attack is.")
      .OnlyWith(hostile, "kind = \"attack\"");
  list.Check([&disturbance, &fleet, &experiment](OptionList& mistakes) {
    const Attack& attack = disturbance.attack;
    if (attack.kind == AttackKind::kLabelShift && attack.strength != std::floor(attack.strength))
      mistakes.Fail(&disturbance.attack.strength,
                    " is " + FormatNumber(attack.strength) +
                        "; with attack = \"label-shift\" use a whole number of classes");
    const Method method = experiment.train.method;
    if (Colludes(attack.kind) && (method == Method::kSplit || method == Method::kGossip)) {
      mistakes.Fail(&disturbance.attack.kind,
                    " is \"" + std::string(NameOf(kAttacks, attack.kind)) +
                        "\", which is made of whole updates and is only valid with train.method = "
                        "\"sync-sgd\" or \"federated\"; use attack = \"sign-flip\"");
    }
    const auto* name = std::get_if<std::string>(&disturbance.devices);
    std::vector<std::string> groups;
    for (const Group& group : fleet.groups) groups.push_back(group.name);
    if (name != nullptr && std::ranges::find(groups, *name) == groups.end())
      mistakes.Fail(&disturbance.devices, ": " + UnknownName("group", *name, groups).message());
  });
  return list;
}

}  // namespace tributary::inline experiment
