#pragma once

#include <tributary/tributary.h>

#include <memory>

// The device's own samples at its group's stream-rate, in rushes: they come ten times as fast for the first second of every
// ten, and not at all for the rest. NAME:SECONDS sets the period.
tributary::StatusOr<std::unique_ptr<tributary::Stream>> MakeRushHourStream(
    const tributary::StreamScene& scene);
