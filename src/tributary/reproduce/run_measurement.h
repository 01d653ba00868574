#pragma once

#include <cstddef>
#include <optional>

#include "tributary/base/status.h"
#include "tributary/coordinator/simulation.h"
#include "tributary/experiment/experiment.h"
#include "tributary/reproduce/result_file.h"

namespace tributary::inline reproduce {

// When a run counts as having got somewhere.
struct Target {
  double accuracy = 0;
  // The mean of so many evaluations in a row must be there. One is what is usual; but accuracy goes up and down from one
  // evaluation to the next, so of two equal runs the one that is looked at more often gets there first.
  std::size_t evaluations = 1;
  // Instead of an accuracy: a loss to fall to. The curve is then of losses.
  std::optional<double> loss;
};

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
