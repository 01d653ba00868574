#include "tributary/coordinator/finished_run.h"

namespace tributary {

FinishedRun MakeFinishedRun(std::span<const DeviceProfile> profiles, const DeviceTotalsSink& totals) {
  FinishedRun result;
  result.profiles.assign(profiles.begin(), profiles.end());
  result.devices = totals.totals(profiles.size());
  for (const DeviceTotals& device : result.devices) {
    result.down += device.down;
    result.up += device.up;
  }
  return result;
}

}  // namespace tributary
