#pragma once

#include "tributary/base/status.h"
#include "tributary/store/database.h"

namespace tributary {

// The tables of a run store. Their version stands in the file; a file of a later one is refused in words.
//
//   runs           one row for each run: what it is, how it stands, who writes it
//   rounds         one for each finished round
//   evaluations    one for each evaluation
//   devices        one for each device of a run: totals, and what was last said
//   recent_rounds  what each device did in a round (device_detail.h), for the kRecentRounds rounds that were recorded last
//   notes          what was worth saying
//
// Times of the run's clock are in nanoseconds, those of day in milliseconds since 1970. What nobody knows is NULL.
inline constexpr std::int64_t kSchemaVersion = 1;
inline constexpr std::uint64_t kRecentRounds = 64;

// Makes the tables in an empty file, and checks those of any other, which must be ours to the letter: names of views or
// triggers that stand where tables should are none. `path` is for messages.
Status PrepareSchema(Database& database, const std::filesystem::path& path);

// The check alone. NotFound for an empty file.
Status CheckSchema(Database& database, const std::filesystem::path& path);

}  // namespace tributary
