#include "tributary/experiment/programme_text.h"
#include "tributary/experiment/sections.h"

namespace tributary {
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

}  // namespace tributary
