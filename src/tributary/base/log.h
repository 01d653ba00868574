#pragma once

#include <cstdio>
#include <string_view>

namespace tributary::inline base {

// The program's log: lines for people, written through spdlog. What a run measures belongs into events (telemetry/) instead.
//   1. The program calls SetUpLog once, before it starts threads.
//   2. Any thread calls Log. A line is written whole and at once.
// Without SetUpLog, as in tests, only warnings are shown.
enum class LogLevel {
  kDebug,    // each step of a connection and a round
  kInfo,     // what changed: joined, resumed, waiting
  kWarning,  // what went wrong and was survived
};

struct LogOptions {
  LogLevel least = LogLevel::kInfo;  // Lower levels are not shown.
  bool times = false;                // Each line begins with date, time and level.
  std::FILE* out = stdout;           // For lines below kWarning; warnings go to standard error.
};
void SetUpLog(const LogOptions& options);

// Whether lines of this level are shown, for texts that are costly to build.
bool LogShows(LogLevel level);
void Log(LogLevel level, std::string_view text);

}  // namespace tributary::inline base
