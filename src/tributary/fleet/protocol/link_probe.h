#pragma once

#include <functional>

#include "tributary/base/clock.h"
#include "tributary/base/status.h"
#include "tributary/fleet/messages.h"

namespace tributary::inline protocol {

// The time to send `up` bytes and receive `down` bytes, each at most kLargestProbe.
using LinkProbe = std::function<StatusOr<Duration>(std::size_t up, std::size_t down)>;

// Fills in the round trip and both rates of a device's link, by larger and larger probes until one takes long enough to
// tell; so a slow link is not kept busy for long.
Status MeasureLink(const LinkProbe& probe, Ready& ready);

}  // namespace tributary::inline protocol
