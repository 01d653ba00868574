#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tributary/coordinator/finished_run.h"
#include "tributary/experiment/experiment.h"

namespace tributary::inline cli {

// What all commands that run experiments take and print.
struct CommonRunOptions {
  std::vector<std::string> set;  // KEY=VALUE
  std::optional<std::uint64_t> seed;
  std::string out;

  // Changes to the experiment, --seed among them.
  std::vector<std::string> Overrides() const;
};
// --set and --seed.
void AddOverrideOptions(CLI::App& command, CommonRunOptions& options);
// --out.
void AddOutOption(CLI::App& command, CommonRunOptions& options);

// --out, or without it runs/NAME-SEED, with a number behind it where that exists already.
std::filesystem::path FolderOf(const CommonRunOptions& options, const Goal& goal);

// A table's heading and its row, with the totals of devices (kDeviceTimes, kDeviceBytes) behind what is there.
std::vector<std::string> WithTotals(std::vector<std::string> heading);
std::vector<std::string> WithTotals(std::vector<std::string> row, const DeviceFinished& sums);

// Where each device's time and bytes went, as a table; by group where there are many.
void PrintDevices(const FinishedRun& result);

}  // namespace tributary::inline cli
