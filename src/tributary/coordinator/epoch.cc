#include "tributary/coordinator/epoch.h"

#include <algorithm>

#include "tributary/base/check.h"

namespace tributary::inline coordinator {

Status Epochs::Restore(EpochState state) {
  state_ = std::move(state);
  walked_ = 0;
  taken_.assign(state_.problem.sizes.size(), 0);
  if (state_.number == 0) return OkStatus();
  plan_ = PlanEpoch(state_.problem, options_, state_.number);
  if (!options_.own) return OkStatus();
  return CheckSamplingPlan(state_.problem, plan_).WithContext("sampler '" + options_.own_name + "'");
}

Status Epochs::Begin(std::uint64_t round, SamplingProblem problem) {
  TRIBUTARY_RETURN_IF_ERROR(CheckSamplingProblem(problem));
  return Restore({state_.number + 1, round, std::move(problem)});
}

Status Epochs::Remove(std::span<const DeviceId> devices) {
  EpochState state = state_;
  for (const DeviceId device : devices) {
    if (device.value >= state.problem.sizes.size()) continue;  // It joined since.
    state.problem.sizes[device.value] = 0;
    if (!state.problem.label_counts.empty())
      std::ranges::fill(state.problem.label_counts[device.value], std::int64_t{0});
  }
  return Restore(std::move(state));
}

Epochs::Step Epochs::StepOf(std::uint64_t round) {
  TRIBUTARY_CHECK(!AtEnd(round) && round >= state_.began);
  const std::size_t step = round - state_.began;
  if (step < walked_) {
    walked_ = 0;
    taken_.assign(taken_.size(), 0);
  }
  for (; walked_ < step; ++walked_) {
    for (const ClientBatch& batch : plan_.step(walked_)) taken_[batch.client] += batch.count;
  }
  Step result;
  for (const ClientBatch& batch : plan_.step(step)) {
    const auto epochs = static_cast<std::int64_t>(state_.number - 1);
    result.devices.push_back(DeviceId{batch.client});
    result.batches.push_back(batch.count);
    result.first.push_back(epochs * state_.problem.sizes[batch.client] + taken_[batch.client]);
  }
  return result;
}

}  // namespace tributary::inline coordinator
