#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tributary/base/file.h"
#include "tributary/base/status.h"
#include "tributary/telemetry/event.h"

namespace tributary::inline store {

// What each device did in one round, as bytes of a store: all but reasons, positions of streams and what is exchanged in
// meetings.
std::vector<std::byte> EncodeDetail(std::span<const DeviceFinished> devices);

// The reverse; total on any bytes. `round` is that of the events.
StatusOr<std::vector<DeviceFinished>> DecodeDetail(RoundId round, ByteSpan bytes);

}  // namespace tributary::inline store
