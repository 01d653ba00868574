#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/fleet/availability.h"

namespace tributary::inline experiment {

// A recording as text, one step a line: seconds from the start, a comma, the share from then on.
//
//   # a phone in the evening
//   time,share
//   0,1.0
//   12.5,0.4
//   60,1.0
//
// Empty lines, lines that begin with # and a heading in the first other line are passed over. Refused with file and
// line: what is not two numbers, times that do not start at 0 and rise, shares outside [0, 1], more steps than
// kMostTraceSteps.
StatusOr<std::vector<Trace::Step>> ParseTrace(std::string_view text, const std::string& name);
StatusOr<std::vector<Trace::Step>> ReadTraceFile(const std::filesystem::path& path);

// In all traces of an experiment together: they are written into the experiment as run, which must be read back.
inline constexpr std::size_t kMostTraceSteps = 10'000;

}  // namespace tributary::inline experiment
