#pragma once

#include <cstdint>
#include <optional>

#include "tributary/base/clock.h"
#include "tributary/base/status.h"
#include "tributary/coordinator/simulation.h"
#include "tributary/experiment/experiment.h"
#include "tributary/reproduce/arm_plan.h"
#include "tributary/reproduce/result_file.h"

namespace tributary::inline reproduce {

// Runs an experiment on a simulated fleet and measures it. Cancelled if it was stopped.
//
//   accuracy                    at the end
//   final accuracy, final loss  the mean over the last fifth of the evaluations
//   virtual seconds, seconds per round, waiting share (of all devices' time), megabytes up
//   time to target              in virtual seconds, if it was reached
//   compressed steps            fraction of updates with less than half the bytes of the weights
//   limited updates             fraction of updates that [trust] capped or clipped
//   megabytes per update        as sent
//   buffered samples            maximum over rounds, all devices together
//   kilobytes injected          per round
//
// The curve is accuracy over virtual seconds. If the run diverged so that no update was usable, only the last
// six metrics up to then, and the target if it was reached.
StatusOr<Measurement> MeasureRun(const Experiment& experiment, const Target& target,
                                 SimulationOptions options);

// An arm of a study of global batches: an experiment with method `split`, and how much of it is run. Rounds
// and evaluations follow from the devices' samples, which vary with the seed.
struct SplitArm {
  Experiment experiment;
  std::int64_t epochs = 1;   // to plan, at least one
  std::int64_t trained = 1;  // the first of these, to train; 0: only plan
  // If given, the bound on the mean deviation is that of this sampling over the same samples and epochs; the
  // experiment's method must be `deadline`.
  std::optional<SamplingOptions> bound;
};

// Measures an arm with a seed. Cancelled if it was stopped. From the plans, means over epochs:
//
//   planned seconds   per epoch: the sum over steps of the largest delay of the step's devices (StepDelays)
//   deviation         of a step's batch from all samples (StepDeviations)
//   steps             per epoch
//
// and from the training, if any:
//
//   accuracy          the mean of the evaluations after the last three epochs; missing if there are fewer
//   seconds per epoch in virtual time
//   planning share    time for planning as a fraction of the run's wall-clock time, both by `clock`
//
// The curve is accuracy over virtual seconds. If the run diverged, only the plans.
StatusOr<Measurement> MeasureSplit(const SplitArm& arm, std::uint64_t seed, const Clock& clock,
                                   const SimulationOptions& options);

}  // namespace tributary::inline reproduce
