#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/fleet/availability.h"

namespace tributary::inline experiment {

// An availability trace as text, one step per line: seconds since the start, a comma, the share from then on.
//
//   # a phone in the evening
//   time,share
//   0,1.0
//   12.5,0.4
//   60,1.0
//
// Skips empty lines, lines starting with # and one heading. Errors, with file and line: lines that are not
// two numbers, times that do not rise from 0, shares outside [0, 1], too many steps.
StatusOr<std::vector<Trace::Step>> ParseTrace(std::string_view text, const std::string& name);
StatusOr<std::vector<Trace::Step>> ReadTraceFile(const std::filesystem::path& path);

// For all traces of an experiment together: they are part of the written experiment, which must be readable.
inline constexpr std::size_t kMostTraceSteps = 10'000;

}  // namespace tributary::inline experiment
