#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tributary/fleet/profile.h"
#include "tributary/policy/sampling/sampling.h"

namespace tributary::inline coordinator {

// The current epoch of global batches and its sampling problem: enough to plan the epoch again,
// bit-identically, when a run resumes, even if devices have joined or were measured differently since.
struct EpochState {
  std::uint64_t number = 0;  // from 1; 0 before the first epoch
  std::uint64_t began = 0;   // its first round
  SamplingProblem problem;   // one client per device
  friend bool operator==(const EpochState&, const EpochState&) = default;
};

// Steps through epochs of global batches, one step per round.
class Epochs {
 public:
  // Devices of a round, batch sizes, and offsets in their sample sequences (TrainAssignment::first).
  struct Step {
    std::vector<DeviceId> devices;
    std::vector<std::size_t> batches;
    std::vector<std::int64_t> first;
    friend bool operator==(const Step&, const Step&) = default;
  };

  explicit Epochs(SamplingOptions options) : options_(std::move(options)) {}

  const EpochState& state() const { return state_; }
  // Fails if a custom sampler returns an invalid plan.
  Status Restore(EpochState state);

  // Whether this round starts a new epoch, which then needs a problem.
  bool AtEnd(std::uint64_t round) const {
    return state_.number == 0 || round - state_.began >= plan_.steps();
  }
  Status Begin(std::uint64_t round, SamplingProblem problem);
  // Plans the rest of the epoch without these clients.
  Status Remove(std::span<const DeviceId> devices);
  // For a round of the current epoch. Call once per round; again only to repeat a round that was not applied.
  Step StepOf(std::uint64_t round);

 private:
  const SamplingOptions options_;
  EpochState state_;
  SamplingPlan plan_;
  // Samples of each client in the steps before `walked_`.
  std::vector<std::int64_t> taken_;
  std::size_t walked_ = 0;
};

}  // namespace tributary::inline coordinator
