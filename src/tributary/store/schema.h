#pragma once

#include <algorithm>
#include <string>

#include "tributary/base/status.h"
#include "tributary/store/database.h"
#include "tributary/telemetry/device_round.h"

namespace tributary::inline store {

// The tables of a run store. The file contains their version; later versions are refused.
//
//   runs           one row per run: metadata, state, and the process that writes it
//   rounds         one per finished round
//   evaluations    one per evaluation
//   devices        one per device of a run: totals and last values
//   recent_rounds  device details (device_detail.h) of the last kRecentRounds rounds
//   notes          messages
//
// Times on the run's clock are in nanoseconds, wall-clock times in milliseconds since 1970. Unknown values
// are NULL. A new device total requires a new version; files of earlier versions are upgraded.
inline constexpr std::int64_t kSchemaVersion = [] {
  int newest = 1;
  for (const DeviceTime& time : kDeviceTimes) newest = std::max(newest, time.since);
  return newest;
}();
inline constexpr std::uint64_t kRecentRounds = 64;

// The columns of `devices`: the totals in the order of kDeviceTimes and kDeviceBytes, and all others.
std::string DeviceTotalColumns();
inline constexpr const char* kDeviceColumns =
    "run, device, group_name, applied, missed, last_round, last_outcome, reason, kept, stream_rate, "
    "buffered, dropped";
inline constexpr int kDeviceColumnCount = 12;

// Creates the tables in an empty file, and checks those of any other: the schema must match this or an
// earlier version exactly, without views or triggers. `path` is for messages.
Status PrepareSchema(Database& database, const std::filesystem::path& path);

// The same for an existing file: NotFound if it is empty.
Status CheckSchema(Database& database, const std::filesystem::path& path);

}  // namespace tributary::inline store
