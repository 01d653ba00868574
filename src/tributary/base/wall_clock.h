#pragma once

#include <chrono>
#include <functional>

namespace tributary::inline base {

// The time of day, since 1970 began in UTC: for dates that people read, never for measuring. It jumps when somebody sets
// the machine's clock.
using WallTime = std::chrono::nanoseconds;

// The only source of it; code that needs the date takes one as an argument. Safe to call from any thread.
using WallClock = std::function<WallTime()>;

// The machine's.
WallClock SystemWallClock();

}  // namespace tributary::inline base
