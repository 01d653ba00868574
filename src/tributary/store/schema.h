#pragma once

#include <algorithm>
#include <string>

#include "tributary/base/status.h"
#include "tributary/store/database.h"
#include "tributary/telemetry/device_round.h"

namespace tributary::inline store {

// The tables of a run store. Their version stands in the file; a file of a later one is refused in words.
//
//   runs           one row for each run: what it is, how it stands, who writes it
//   rounds         one for each finished round
//   evaluations    one for each evaluation
//   devices        one for each device of a run: totals, and what was last said
//   recent_rounds  what each device did in a round (device_detail.h), for the kRecentRounds rounds that were recorded last
//   notes          what was worth saying
//
// Times of the run's clock are in nanoseconds, those of day in milliseconds since 1970. Unknown values are NULL.
// A new total of devices makes a new version, to which files of earlier ones are brought.
inline constexpr std::int64_t kSchemaVersion = [] {
  int newest = 1;
  for (const DeviceTime& time : kDeviceTimes) newest = std::max(newest, time.since);
  return newest;
}();
inline constexpr std::uint64_t kRecentRounds = 64;

// The columns of `devices`: the totals in the order of kDeviceTimes and kDeviceBytes, and the others.
std::string DeviceTotalColumns();
inline constexpr const char* kDeviceColumns =
    "run, device, group_name, applied, missed, last_round, last_outcome, reason, kept, stream_rate, "
    "buffered, dropped";
inline constexpr int kDeviceColumnCount = 12;

// Makes the tables in an empty file, and checks those of any other, which must be ours to the letter, of this version or an
// earlier one: names of views or triggers that stand where tables should are none. `path` is for messages.
Status PrepareSchema(Database& database, const std::filesystem::path& path);

// The same for a file that is there already: NotFound for an empty one.
Status CheckSchema(Database& database, const std::filesystem::path& path);

}  // namespace tributary::inline store
