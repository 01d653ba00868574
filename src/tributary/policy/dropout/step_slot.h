#pragma once

#include <cstddef>

#include "tributary/base/clock.h"

namespace tributary {

// How long a step may take: an equal share of the time that is left for the steps that are left, this one included. So if
// each step keeps to its slot, the last one ends in time; and one that took longer leaves less to the others.
inline Duration StepSlot(Duration left, std::size_t steps) { return left / static_cast<std::int64_t>(steps); }

// Of a round's time, so much is left alone by a device that has to guess what its steps will take: they differ, and an
// operating system gives its processors in turns.
inline constexpr double kTimeReserve = 0.05;

}  // namespace tributary
