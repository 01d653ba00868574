#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tributary/base/status.h"
#include "tributary/base/wall_clock.h"
#include "tributary/store/comparison.h"
#include "tributary/store/run_record.h"

namespace tributary::inline cli {

// "2026-05-17 08:30", local time.
std::string FormatLocalTime(WallTime time);
// "83.2 %", or a dash if unknown.
std::string FormatShare(std::optional<double> share);

nlohmann::ordered_json RunJson(const RunRecord& run);
// RunJson of each run, and its cost to the target.
nlohmann::ordered_json ComparisonJson(const Comparison& comparison);

// A run by a user's name for it: a folder's path, or a name in the store.
StatusOr<RunHistory> FindRun(const std::string& store, const std::string& named);
// The folder of such a run. An existing folder takes precedence over the store.
StatusOr<std::filesystem::path> FindRunFolder(const std::string& store, const std::string& named);

}  // namespace tributary::inline cli
