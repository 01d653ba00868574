#include "tributary/cli/run_options.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tributary/base/text_table.h"

namespace tributary::inline cli {

std::vector<std::string> WithTotals(std::vector<std::string> heading) {
  for (const DeviceTime& time : kDeviceTimes) heading.emplace_back(time.name);
  for (const DeviceBytes& bytes : kDeviceBytes) heading.emplace_back(bytes.name);
  return heading;
}

std::vector<std::string> WithTotals(std::vector<std::string> row, const DeviceFinished& sums) {
  for (const DeviceTime& time : kDeviceTimes) row.push_back(FormatDuration(time.Of(sums)));
  for (const DeviceBytes& bytes : kDeviceBytes) row.push_back(FormatBytes(sums.*bytes.part));
  return row;
}

std::vector<std::string> CommonRunOptions::Overrides() const {
  std::vector<std::string> overrides = set;
  if (seed) overrides.push_back("experiment.seed=" + std::to_string(*seed));
  return overrides;
}

void AddOverrideOptions(CLI::App& command, CommonRunOptions& options) {
  command.add_option("--set", options.set, "Change a key of the experiment, e.g. train.batch=16; repeatable")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command.add_option("--seed", options.seed, "Short for --set experiment.seed=N");
}

void AddOutOption(CLI::App& command, CommonRunOptions& options) {
  command.add_option("--out", options.out, "Folder for the run's files; without it runs/NAME-SEED")
      ->type_name("DIR");
}

std::filesystem::path FolderOf(const CommonRunOptions& options, const Goal& goal) {
  if (!options.out.empty()) return options.out;
  const std::string base = "runs/" + goal.name + "-" + std::to_string(goal.seed);
  std::string path = base;
  for (int i = 2; std::filesystem::exists(path); ++i) path = base + "-" + std::to_string(i);
  return path;
}

void PrintDevices(const FinishedRun& result) {
  const auto& profiles = result.profiles;
  constexpr std::size_t kMostRows = 32;
  const bool by_group = profiles.size() > kMostRows;
  // What devices kept of the network is shown where they had a choice.
  const bool chose =
      std::ranges::any_of(result.devices, [](const DeviceTotals& device) { return device.chose > 0; });
  std::vector<std::string> heading =
      WithTotals({by_group ? "group" : "device", by_group ? "devices" : "group", "applied", "missed"});
  if (chose) heading.push_back("kept");
  TextTable table(heading);
  for (std::size_t i = 0; i < profiles.size();) {
    DeviceTotals sum;
    std::size_t end = i;
    do {
      sum.Add(result.devices[end++]);
    } while (by_group && end < profiles.size() && profiles[end].group == profiles[i].group);
    std::vector<std::string> row = WithTotals({by_group ? profiles[i].group : std::to_string(i),
                                               by_group ? std::to_string(end - i) : profiles[i].group,
                                               std::to_string(sum.applied), std::to_string(sum.missed)},
                                              sum);
    if (chose) {
      const double kept = 100 * sum.kept_sum / static_cast<double>(std::max<std::uint64_t>(1, sum.chose));
      row.push_back(sum.chose > 0 ? std::to_string(std::lround(kept)) + " %" : "–");
    }
    table.AddRow(row);
    i = end;
  }
  std::printf("\n%s", table.Format().c_str());
}

}  // namespace tributary::inline cli
