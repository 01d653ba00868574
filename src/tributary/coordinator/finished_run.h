#pragma once

#include <string>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/units.h"
#include "tributary/coordinator/coordinator.h"
#include "tributary/experiment/experiment.h"
#include "tributary/fleet/profile.h"
#include "tributary/fleet/report.h"
#include "tributary/telemetry/event.h"
#include "tributary/telemetry/run_totals.h"

namespace tributary::inline coordinator {

// What a round's reports come to, as events.
DeviceFinished EventOf(RoundId round, const DeviceReport& report);
RoundFinished Summarise(RoundId round, const RoundReport& report);

// Why the first device that was not applied was not: "3: it vanished". Empty if all were.
std::string FirstFailure(const RoundReport& report);

// What a run came to, on a simulated or a real fleet.
struct FinishedRun {
  RunOutcome run;
  Duration time{0};       // of the run's clock
  bool simulated = true;  // on a virtual clock
  std::vector<DeviceProfile> profiles;
  std::vector<DeviceTotals> devices;  // as profiles
  Bytes down;
  Bytes up;
  // Of a simulated run, of every event and of the final weights: two runs of one experiment and seed agree in it,
  // whatever the threads. Of a real run of the weights alone: events have times of their own.
  std::string digest;
};

// Everything but the time and the clock, from what the events added up to. `digest` has what counts besides the weights.
FinishedRun MakeFinishedRun(const RunOutcome& outcome, const Coordinator& coordinator,
                            std::span<const DeviceProfile> profiles, const RunTotals& totals, Digest& digest);

// A finished run as JSON: what was run (and what it was charged as), how it ended, and where each device's time and
// bytes went.
std::string FormatSummary(const Experiment& experiment, const FinishedRun& result);

}  // namespace tributary::inline coordinator
