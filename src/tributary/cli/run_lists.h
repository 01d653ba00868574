#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "tributary/base/status.h"
#include "tributary/base/wall_clock.h"
#include "tributary/store/comparison.h"
#include "tributary/store/run_record.h"

namespace tributary::inline cli {

// How recorded runs are shown.

// "2026-05-17 08:30", of the place where we are.
std::string FormatLocalTime(WallTime time);
// "83.2 %", or a dash for what nobody knows.
std::string FormatShare(std::optional<double> share);

nlohmann::ordered_json RunJson(const RunRecord& run);
// What RunJson says of each, and what it took to the target.
nlohmann::ordered_json ComparisonJson(const Comparison& comparison);

// A run that a person named: a folder's path, or what the store knows it by.
StatusOr<RunHistory> FindRun(const std::string& store, const std::string& named);
// The folder of such a run. One that is there goes before what the store knows by that name.
StatusOr<std::filesystem::path> FindRunFolder(const std::string& store, const std::string& named);

}  // namespace tributary::inline cli
