#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/base/worker_pool.h"
#include "tributary/data/dataset.h"
#include "tributary/explore/subnetwork_training.h"

namespace tributary::inline explore {

// The training samples of a data set, divided once: candidates all learn from the same ones, and are judged by others.
struct ExplorationData {
  const Dataset* dataset = nullptr;
  std::vector<std::uint32_t> evaluation;   // whose loss is the measure
  std::vector<std::uint32_t> calibration;  // from which batch norms' statistics are estimated before that
  std::vector<std::uint32_t> training;

  // The data set must outlive it. Small ones give a quarter each to evaluation and calibration; refused where not even a
  // mini-batch is left for training.
  static StatusOr<ExplorationData> Divide(const Dataset& dataset, std::size_t samples, std::size_t batch,
                                          std::uint64_t seed);

  // `count` mini-batches for training, without repeats until all have been used; other streams are other orders.
  std::vector<std::vector<std::uint32_t>> DrawBatches(std::size_t count, std::size_t batch,
                                                      std::uint64_t seed, std::uint64_t stream) const;
};

// The moments from which candidates train: early, in the middle and late in a training. That training is of the kind that
// they are for, steps of many devices each with another vector: of a network that was always trained whole, what is first
// seen of any vector is the harm of taking apart what had grown together. Each is trained from the one before, with momentum
// from zero, so that those which are there are all that going on takes.

// The next snapshot after `done`, on the calling thread, with as many compute threads as are set there. Cancelled if
// `should_stop` says so between two steps; an error if the loss stops being a number.
StatusOr<Snapshot> NextSnapshot(const ExploreOptions& options, const std::shared_ptr<const Model>& model,
                                const ExplorationData& data, const std::vector<Snapshot>& done,
                                const std::function<bool(std::size_t steps)>& should_stop);

// A short training of the network with one dropout vector from one snapshot.
struct Trial {
  std::vector<std::int64_t> kept;  // atoms of each group
  std::size_t snapshot = 0;
  std::size_t steps = 0;
  std::uint64_t repeat = 0;  // other mini-batches and channels; candidates that are compared have the same
};

// Runs trials on the threads of a pool, each on one. What a trial gives is the loss of the full network, with the mean of the
// weights after the later half of the steps (which is far less a matter of the last few mini-batches than the last ones
// are, and what a server that averages devices gets), over the samples of evaluation, in evaluation mode, once batch
// norms' statistics have been estimated anew: a function of trial, snapshots, data and options alone, whoever runs it and
// beside what.
class TrialRunner {
 public:
  // All but the options must outlive it.
  TrialRunner(const ExploreOptions& options, std::shared_ptr<const Model> model, const ExplorationData& data,
              const std::vector<Snapshot>& snapshots);

  struct Watch {
    std::function<bool()> should_stop;                            // asked on any thread, between steps
    std::function<void(std::size_t trial, double loss)> on_done;  // called by one thread at a time
  };
  // Cancelled where somebody said so; then some are done and others not.
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
  std::vector<std::unique_ptr<Worker>> workers_;  // one for each thread
  WorkerPool pool_;
};

}  // namespace tributary::inline explore
