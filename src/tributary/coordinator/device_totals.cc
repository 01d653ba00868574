#include "tributary/coordinator/device_totals.h"

namespace tributary {

void DeviceTotalsSink::Write(const Event& event) {
  const auto* finished = std::get_if<DeviceFinished>(&event.what);
  if (finished == nullptr || finished->device.value >= totals_.size()) return;
  DeviceTotals& device = totals_[finished->device.value];
  ++(finished->outcome == Outcome::kApplied ? device.applied : device.missed);
  device.compute += finished->compute;
  device.transfer += finished->pull + finished->push;
  device.waiting += finished->wait;
  device.down += finished->bytes_down;
  device.up += finished->bytes_up;
}

}  // namespace tributary
