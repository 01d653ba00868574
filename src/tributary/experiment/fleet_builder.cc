#include "tributary/experiment/fleet_builder.h"

#include <cmath>

#include "tributary/experiment/programme_text.h"
#include "tributary/experiment/vocabulary.h"

namespace tributary::inline experiment {
namespace {

// `numbers` are in the order of kGroupFields.
void Store(const std::array<double, kGroupFields.size()>& numbers, DeviceProfile& device) {
  device.compute = {numbers[0]};
  device.memory = {static_cast<std::int64_t>(std::llround(numbers[1]))};
  device.uplink = {numbers[2]};
  device.downlink = {numbers[3]};
  device.round_trip = FromSeconds(numbers[4]);
  device.setup = FromSeconds(numbers[5]);
  device.stream_rate = {numbers[6]};
}

}  // namespace

StatusOr<std::vector<DeviceProfile>> BuildFleet(const Experiment& experiment) {
  std::vector<DeviceProfile> devices;
  devices.reserve(static_cast<std::size_t>(TotalDevices(experiment.fleet)));
  for (const Group& group : experiment.fleet.groups) {
    RateSteps programme;
    if (!group.stream_programme.empty()) {
      TRIBUTARY_ASSIGN_OR_RETURN(programme, ParseRateSteps(group.stream_programme));
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(group.count); ++i) {
      DeviceProfile& device = devices.emplace_back();
      device.id = DeviceId{devices.size() - 1};
      device.group = group.name;
      std::array<double, kGroupFields.size()> numbers{};
      for (std::size_t f = 0; f < kGroupFields.size(); ++f) {
        const GroupField& field = kGroupFields[f];
        const DrawKey key{experiment.goal.seed, device.id, field.key, i};
        TRIBUTARY_ASSIGN_OR_RETURN(numbers[f], Draw(group.*field.member, field.allowed, key));
      }
      Store(numbers, device);
      device.stream_programme = programme;
      TRIBUTARY_ASSIGN_OR_RETURN(device.availability,
                                 Availability::Make(group.availability, experiment.goal.seed, device.id));
    }
  }
  return devices;
}

}  // namespace tributary::inline experiment
