#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/status.h"
#include "tributary/data/batches.h"
#include "tributary/data/dataset.h"
#include "tributary/device/evaluation.h"
#include "tributary/engine/executor.h"
#include "tributary/policy/optimisation/optimiser.h"
#include "tributary/policy/optimisation/schedule.h"

namespace tributary::inline device {

struct LocalTrainingOptions {
  int epochs = 3;
  std::size_t batch = 64;  // the last batch of an epoch may be smaller
  OptimiserOptions optimiser;
  // Steps are batches since the start of the run.
  ScheduleOptions schedule;
  double label_smoothing = 0;
  AugmentOptions augment;
  std::uint64_t seed = 1;
  ExecutorOptions executor;
};

struct EpochSummary {
  int epoch = 0;             // from 1
  double learning_rate = 0;  // of the last step
  double train_loss = 0;
  double train_accuracy = 0;
  Evaluation test;
  double samples_per_second = 0;  // without the evaluation
};

struct LocalTrainingResult {
  std::vector<EpochSummary> epochs;  // completed epochs
  std::uint64_t steps = 0;
  bool interrupted = false;  // stopped between two steps; weights are those after the last step
};

// Progress callbacks on the training thread; empty ones are skipped.
struct LocalTrainingObserver {
  std::function<void(std::uint64_t samples, int epoch, double loss)> on_step;
  std::function<void(const EpochSummary&)> on_epoch;
  std::function<bool()> should_stop;  // checked between steps
};

// Trains a network on one machine: shuffled epochs of mini-batches, each followed by an evaluation on the
// test set. Weights are updated in place, starting from their current values. Deterministic in weights, data,
// options and number of compute threads.
//
// Fails if options contradict each other, or, with the step, if the loss is not finite.
StatusOr<LocalTrainingResult> TrainLocally(const LocalTrainingOptions& options,
                                           std::shared_ptr<const Model> model, const TrainTest& data,
                                           std::span<float> parameters, std::span<float> statistics,
                                           const Clock& clock, const LocalTrainingObserver& observer = {});

}  // namespace tributary::inline device
