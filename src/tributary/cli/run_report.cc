#include "tributary/cli/run_report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tributary/base/text_table.h"

namespace tributary {

void PrintDevices(const FinishedRun& result) {
  const auto& profiles = result.profiles;
  constexpr std::size_t kMostRows = 32;
  const bool by_group = profiles.size() > kMostRows;
  // What devices kept of the network is shown where they had a choice.
  const bool chose =
      std::ranges::any_of(result.devices, [](const DeviceTotals& device) { return device.chose > 0; });
  std::vector<std::string> heading = {by_group ? "group" : "device",
                                      by_group ? "devices" : "group",
                                      "applied",
                                      "missed",
                                      "compute",
                                      "transfer",
                                      "hidden",
                                      "waiting",
                                      "down",
                                      "up"};
  if (chose) heading.push_back("kept");
  TextTable table(heading);
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
      sum.kept += device.kept;
      sum.chose += device.chose;
    } while (by_group && end < profiles.size() && profiles[end].group == profiles[i].group);
    std::vector<std::string> row = {by_group ? profiles[i].group : std::to_string(i),
                                    by_group ? std::to_string(end - i) : profiles[i].group,
                                    std::to_string(sum.applied),
                                    std::to_string(sum.missed),
                                    FormatDuration(sum.compute),
                                    FormatDuration(sum.transfer),
                                    FormatDuration(sum.hidden),
                                    FormatDuration(sum.waiting),
                                    FormatBytes(sum.down),
                                    FormatBytes(sum.up)};
    if (chose) {
      const double kept = 100 * sum.kept / static_cast<double>(std::max<std::uint64_t>(1, sum.chose));
      row.push_back(sum.chose > 0 ? std::to_string(std::lround(kept)) + " %" : "–");
    }
    table.AddRow(row);
    i = end;
  }
  std::printf("\n%s", table.Format().c_str());
}

}  // namespace tributary
