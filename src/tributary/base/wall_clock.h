#pragma once

#include <chrono>
#include <functional>

namespace tributary::inline base {

// Time since 1970-01-01 UTC, for dates, never for measuring: it jumps when the system clock is set.
using WallTime = std::chrono::nanoseconds;

// The only source of WallTime; code that needs the date takes one as an argument. Thread-safe.
using WallClock = std::function<WallTime()>;
WallClock SystemWallClock();

}  // namespace tributary::inline base
