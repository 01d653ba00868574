#include "tributary/cli/run_report.h"

#include <cstdio>

#include "tributary/base/text_table.h"

namespace tributary {

void PrintDevices(const FinishedRun& result) {
  const auto& profiles = result.profiles;
  constexpr std::size_t kMostRows = 32;
  const bool by_group = profiles.size() > kMostRows;
  TextTable table({by_group ? "group" : "device", by_group ? "devices" : "group", "applied", "missed", "compute",
                   "transfer", "hidden", "waiting", "down", "up"});
  for (std::size_t i = 0; i < profiles.size();) {
    DeviceTotals sum;
    std::size_t end = i;
    do {
      const DeviceTotals& device = result.devices[end++];
      sum.applied += device.applied;
      sum.missed += device.missed;
      sum.compute += device.compute;
      sum.transfer += device.transfer;
      sum.waiting += device.waiting;
      sum.hidden += device.hidden;
      sum.down += device.down;
      sum.up += device.up;
    } while (by_group && end < profiles.size() && profiles[end].group == profiles[i].group);
    table.AddRow({by_group ? profiles[i].group : std::to_string(i), by_group ? std::to_string(end - i) : profiles[i].group,
                  std::to_string(sum.applied), std::to_string(sum.missed), FormatDuration(sum.compute), FormatDuration(sum.transfer),
                  FormatDuration(sum.hidden), FormatDuration(sum.waiting), FormatBytes(sum.down), FormatBytes(sum.up)});
    i = end;
  }
  std::printf("\n%s", table.Format().c_str());
}

}  // namespace tributary
