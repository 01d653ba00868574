#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tributary/base/file.h"
#include "tributary/base/status.h"
#include "tributary/telemetry/event.h"

namespace tributary::inline store {

// Encodes what each device did in one round, except reasons, stream positions and gossip exchanges.
std::vector<std::byte> EncodeDetail(std::span<const DeviceFinished> devices);

// The reverse, for any bytes. `round` is set in the result.
StatusOr<std::vector<DeviceFinished>> DecodeDetail(RoundId round, ByteSpan bytes);

}  // namespace tributary::inline store
