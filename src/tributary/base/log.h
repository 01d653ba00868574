#pragma once

#include <cstdio>
#include <string_view>

namespace tributary::inline base {

// The program's log: lines for people, written through spdlog. Measurements of a run are events (telemetry/).
//   1. The program calls SetUpLog once, before it starts threads.
//   2. Any thread calls Log. A line is written whole and at once.
// Without SetUpLog, as in tests, only warnings are shown.
enum class LogLevel {
  kDebug,    // each step of a connection and a round
  kInfo,     // state changes: joined, resumed, waiting
  kWarning,  // recoverable failures
};

struct LogOptions {
  LogLevel least = LogLevel::kInfo;  // Lower levels are not shown.
  bool times = false;                // Each line begins with date, time and level.
  std::FILE* out = stdout;           // For lines below kWarning; warnings go to standard error.
};
void SetUpLog(const LogOptions& options);

// Whether lines of this level are shown. Check it before building a costly text.
bool LogShows(LogLevel level);
void Log(LogLevel level, std::string_view text);

}  // namespace tributary::inline base
