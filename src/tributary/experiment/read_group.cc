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
  ReadAvailability(section, "availability", context, group.availability);
  return section.Finish();
}

}  // namespace tributary
