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

DeviceFinished EventOf(RoundId round, const DeviceReport& report);
RoundFinished Summarise(RoundId round, const RoundReport& report);

// Why the first update that was not applied failed: "3: it vanished". Empty if all were applied.
std::string FirstFailure(const RoundReport& report);

struct FinishedRun {
  RunOutcome run;
  Duration time{0};       // on the run's clock
  bool simulated = true;  // on a virtual clock
  std::vector<DeviceProfile> profiles;
  std::vector<DeviceTotals> devices;  // in the order of profiles
  Bytes down;
  Bytes up;
  OutcomeCounts outcomes{};           // of all participants in all rounds
  std::uint64_t rolled_back = 0;      // how often
  std::vector<DeviceId> quarantined;  // in the order in which they were
  // Simulated runs: of all events and the final weights; equal for two runs of the same experiment and seed,
  // with any number of threads. Real runs: of the weights only, since event times differ.
  std::string digest;
};

// Fills in all but `time` and `simulated`. `digest` contains the events that count; the weights are added.
FinishedRun MakeFinishedRun(const RunOutcome& outcome, const Coordinator& coordinator,
                            std::span<const DeviceProfile> profiles, const RunTotals& totals, Digest& digest);

// A finished run as JSON: experiment (and compute-as), end of the run, and the devices' time and bytes.
std::string FormatSummary(const Experiment& experiment, const FinishedRun& result);

}  // namespace tributary::inline coordinator
