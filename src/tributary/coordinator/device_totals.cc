#include "tributary/coordinator/device_totals.h"

namespace tributary {

void DeviceTotalsSink::Write(const Event& event) {
  const auto* finished = std::get_if<DeviceFinished>(&event.what);
  if (finished == nullptr) return;
  if (finished->device.value >= totals_.size()) totals_.resize(finished->device.value + 1);
  DeviceTotals& device = totals_[finished->device.value];
  ++(finished->outcome == Outcome::kApplied ? device.applied : device.missed);
  device.compute += finished->compute;
  device.transfer += finished->pull + finished->push;
  device.waiting += finished->wait;
  device.hidden += finished->hidden;
  device.down += finished->bytes_down;
  device.up += finished->bytes_up;
  if (finished->kept) {
    device.kept += *finished->kept;
    ++device.chose;
  }
}

std::vector<DeviceTotals> DeviceTotalsSink::totals(std::size_t devices) const {
  std::vector<DeviceTotals> totals = totals_;
  totals.resize(devices);
  return totals;
}

}  // namespace tributary
