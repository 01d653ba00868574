#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "tributary/base/worker_pool.h"
#include "tributary/explore/exploration_data.h"
#include "tributary/explore/thin_training.h"

namespace tributary {

// A short training of the network with one dropout vector from one snapshot.
struct Trial {
  std::vector<std::int64_t> kept;  // atoms of each group
  std::size_t snapshot = 0;
  std::size_t steps = 0;
  std::uint64_t repeat = 0;  // other mini-batches and channels; candidates that are compared have the same
};

// What a loss is taken for where training did not end in a number, or in a larger one.
inline constexpr double kWorstLoss = 1000;

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
    ThinTraining training;
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

}  // namespace tributary
