#pragma once

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

}  // namespace tributary::inline reproduce
