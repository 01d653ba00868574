#include <algorithm>

#include "tributary/base/check.h"
#include "tributary/fleet/simulated/event_queue.h"
#include "tributary/fleet/simulated/simulated_fleet.h"

namespace tributary {

// Of the way back to the servers, in the worst case: everybody sends at once.
Duration SimulatedFleet::LongestPush(const DeviceTask& task, std::size_t participants) const {
  double servers = 0;
  for (const Server& server : options_.servers) servers += server.up.value;
  const double rate = std::min(task.up.value, servers / static_cast<double>(participants));
  Bytes bytes{0};
  for (const Bytes some : task.push) bytes += some;
  const Duration setups = static_cast<std::int64_t>(task.push.size()) * (task.setup + task.round_trip / 2);
  return setups + FromSeconds(std::min(1e9, 8 * static_cast<double>(bytes.value) / rate));
}

std::unique_ptr<ThinWalk> SimulatedFleet::WalkOf(const Inquiry& inquiry, const DeviceProfile& profile,
                                                 const Part& part, const DeviceTask& task) const {
  if (!options_.dropout || part.steps.empty()) return nullptr;
  ThinWalk::Work work{charge_.Costs(profile, part.work), {}, part.plan, kNever};
  const double per_sample = kTrainingPasses * charge_.macs() * part.work.slow / profile.compute.value;
  for (const std::size_t samples : part.steps)
    work.seconds.push_back(per_sample * static_cast<double>(samples));
  if (inquiry.deadline) {
    work.until = clock_.Now() + *inquiry.deadline - LongestPush(task, inquiry.participants.size());
  }
  const SimulatedFleetOptions::Dropout& dropout = *options_.dropout;
  return std::make_unique<ThinWalk>(profile.availability, std::move(work),
                                    RoundChoice(*dropout.menu, {options_.seed, profile.id, inquiry.round}));
}

}  // namespace tributary
