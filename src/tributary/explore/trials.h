#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/base/worker_pool.h"
#include "tributary/data/dataset.h"
#include "tributary/explore/subnetwork_training.h"

namespace tributary::inline explore {

// The training samples of a data set, divided once: candidates share training and evaluation samples.
struct ExplorationData {
  const Dataset* dataset = nullptr;
  std::vector<std::uint32_t> evaluation;   // for the loss
  std::vector<std::uint32_t> calibration;  // for the batch-norm statistics of an evaluation
  std::vector<std::uint32_t> training;

  // The data set must outlive it. At most a quarter goes to evaluation and to calibration each; refused if
  // less than a mini-batch is left for training.
  static StatusOr<ExplorationData> Divide(const Dataset& dataset, std::size_t samples, std::size_t batch,
                                          std::uint64_t seed);

  // `count` mini-batches for training, reshuffled every epoch; each `stream` has its own order.
  std::vector<std::vector<std::uint32_t>> DrawBatches(std::size_t count, std::size_t batch,
                                                      std::uint64_t seed, std::uint64_t stream) const;
};

// Snapshots: the weights from which candidates train, early, in the middle and late in a training. Its steps
// use many random vectors, as those of a real fleet: in a network that was always trained whole, any vector
// would first do harm. Each snapshot is trained from the previous one with zero momentum, so the snapshots
// are all the state needed to continue.

// Trains the next snapshot after `done`, on the calling thread and its compute threads. Cancelled if
// `should_stop` returns true between two steps; fails if the loss is not finite.
StatusOr<Snapshot> NextSnapshot(const ExploreOptions& options, const std::shared_ptr<const Model>& model,
                                const ExplorationData& data, const std::vector<Snapshot>& done,
                                const std::function<bool(std::size_t steps)>& should_stop);

// A short training with one dropout vector from one snapshot.
struct Trial {
  std::vector<std::int64_t> kept;  // atoms per group
  std::size_t snapshot = 0;
  std::size_t steps = 0;
  std::uint64_t repeat = 0;  // random seed of mini-batches and channels; compared candidates share it
};

// Runs trials on a thread pool, one thread each. The result of a trial is the evaluation loss of the full
// network, with re-estimated batch-norm statistics and the mean of the weights over the second half of the
// steps (less noisy than the last weights, and what a server that averages devices gets). It depends only on
// trial, snapshots, data and options.
class TrialRunner {
 public:
  // Everything but the options must outlive it.
  TrialRunner(const ExploreOptions& options, std::shared_ptr<const Model> model, const ExplorationData& data,
              const std::vector<Snapshot>& snapshots);

  struct Watch {
    std::function<bool()> should_stop;                            // called on any thread, between steps
    std::function<void(std::size_t trial, double loss)> on_done;  // called on one thread at a time
  };
  // Cancelled if should_stop returned true; then some trials are done.
  Status Run(std::span<const Trial> trials, const Watch& watch);

 private:
  struct Worker {
    SubnetworkTraining training;
    Snapshot mean;
  };
  StatusOr<double> RunOne(Worker& worker, const Trial& trial, const std::function<bool()>& should_stop) const;

  const ExploreOptions options_;
  const std::shared_ptr<const Model> model_;
  const ExplorationData& data_;
  const std::vector<Snapshot>& snapshots_;
  std::vector<std::unique_ptr<Worker>> workers_;  // one per thread
  WorkerPool pool_;
};

}  // namespace tributary::inline explore
