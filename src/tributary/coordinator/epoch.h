#pragma once

#include <cstdint>
#include <vector>

#include "tributary/fleet/profile.h"
#include "tributary/policy/sampling/sampling.h"

namespace tributary::inline coordinator {

// Which epoch of global batches a run is in, and what it was planned from: enough to plan it again, to the same bits, when
// the run goes on after a crash, though devices have come or are measured otherwise by then.
struct EpochState {
  std::uint64_t number = 0;  // from 1; 0 before the first
  std::uint64_t began = 0;   // its first round
  SamplingProblem problem;   // one client for each device
  friend bool operator==(const EpochState&, const EpochState&) = default;
};

// Walks through epochs of global batches, a round for each.
class Epochs {
 public:
  // What a round takes: from whom, how many samples, and where in the device's row of samples (TrainAssignment::first).
  struct Step {
    std::vector<DeviceId> devices;
    std::vector<std::size_t> batches;
    std::vector<std::int64_t> first;
    friend bool operator==(const Step&, const Step&) = default;
  };

  explicit Epochs(SamplingOptions options) : options_(std::move(options)) {}

  const EpochState& state() const { return state_; }
  // The error of a sampler of one's own whose plan is none.
  Status Restore(EpochState state);

  // Whether this round begins an epoch, which then needs a problem.
  bool AtEnd(std::uint64_t round) const {
    return state_.number == 0 || round - state_.began >= plan_.steps();
  }
  Status Begin(std::uint64_t round, SamplingProblem problem);
  // Of a round of the current epoch. Call once per round; again only to repeat a round that was not applied.
  Step StepOf(std::uint64_t round);

 private:
  const SamplingOptions options_;
  EpochState state_;
  SamplingPlan plan_;
  // How many samples of each client the steps before `walked_` take.
  std::vector<std::int64_t> taken_;
  std::size_t walked_ = 0;
};

}  // namespace tributary::inline coordinator
