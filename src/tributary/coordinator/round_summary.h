#pragma once

#include <string>

#include "tributary/fleet/report.h"
#include "tributary/telemetry/event.h"

namespace tributary::inline coordinator {

// What a round's reports come to, as events.
DeviceFinished EventOf(RoundId round, const DeviceReport& report);
RoundFinished Summarise(RoundId round, const RoundReport& report);

// Why the first device that was not applied was not: "3: it vanished". Empty if all were.
std::string FirstFailure(const RoundReport& report);

}  // namespace tributary::inline coordinator
