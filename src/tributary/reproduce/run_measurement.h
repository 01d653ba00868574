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

// Runs an experiment on a simulated fleet and says what it came to. Cancelled if it was stopped.
//
//   accuracy                    at the end
//   final accuracy, final loss  the mean over the last fifth of the evaluations
//   virtual seconds, seconds per round, waiting share (of all devices' time), megabytes up
//   time to target              where it was reached, in virtual seconds
//   compressed steps            of all updates, those that took less than half the bytes of the weights
//   megabytes per update        as they went over the wire
//   buffered samples            most, over all rounds, in the buffers of all devices together
//   kilobytes injected          per round
//
// The curve is accuracy over virtual seconds. Of a run that diverged, so that no update could be used any more, only what
// it came to until then: the last five, and the target if it was reached.
StatusOr<Measurement> MeasureRun(const Experiment& experiment, const Target& target,
                                 SimulationOptions options);

// An arm of a study of global batches: an experiment with the method `split` and how much of it is run. Its rounds and
// evaluations follow from the samples that devices have, which are others with every seed.
struct SplitArm {
  Experiment experiment;
  std::int64_t epochs = 1;   // planned, at least one
  std::int64_t trained = 1;  // of these, from the first; 0 only plans
  // Where given, batches keep within the mean deviation that this sampling has over the same samples and epochs; the
  // experiment's is `deadline`.
  std::optional<SamplingOptions> bound;
};

// What an arm comes to with a seed. Cancelled if it was stopped. Of the plans, means over epochs:
//
//   planned seconds   of an epoch: the sum over its steps of the largest delay among a step's devices (StepDelays)
//   deviation         of a step's batch from all samples (StepDeviations)
//   steps             in an epoch
//
// and of what was trained, if anything was:
//
//   accuracy          the mean over the last three epochs, evaluated at their ends; without it there are fewer
//   seconds per epoch in the run's virtual time
//   planning share    of the run's real time, what planning its epochs takes (`clock` tells both)
//
// The curve is accuracy over virtual seconds. Of a run that diverged, the plans only.
StatusOr<Measurement> MeasureSplit(const SplitArm& arm, std::uint64_t seed, const Clock& clock,
                                   const SimulationOptions& options);

}  // namespace tributary::inline reproduce
