#include <algorithm>

#include "tributary/base/names.h"
#include "tributary/experiment/sections.h"

namespace tributary {
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

}  // namespace tributary
