#include "tributary/fleet/step_plan.h"

#include <algorithm>
#include <cmath>

#include "tributary/base/check.h"

namespace tributary::inline fleet {
namespace {

// The share of the latest observation in an estimate: more follows changes faster and is noisier.
constexpr double kNewest = 0.3;

void Move(double& estimate, double seen) { estimate += kNewest * (seen - estimate); }

void Move(std::vector<double>& estimates, const std::vector<double>& seen) {
  if (seen.size() != estimates.size()) return;
  for (std::size_t i = 0; i < seen.size(); ++i) Move(estimates[i], seen[i]);
}

}  // namespace

StepPlanner::StepPlanner(TransferOptions options, std::shared_ptr<const std::vector<std::int64_t>> unit_bytes,
                         const StepCosts& first)
    : options_(options),
      unit_bytes_(std::move(unit_bytes)),
      costs_(first),
      down_(first.pull_setup, first.pull_per_byte),
      up_(first.push_setup, first.push_per_byte) {
  TRIBUTARY_CHECK(first.forward.size() == unit_bytes_->size() &&
                  first.backward.size() == unit_bytes_->size());
  Plan();
}

TransferProfile StepPlanner::Profile() const {
  constexpr double kMs = 1e3;
  TransferProfile profile{kMs * costs_.pull_setup, kMs * costs_.push_setup, {}};
  for (std::size_t unit = 0; unit < unit_bytes_->size(); ++unit) {
    const auto bytes = static_cast<double>((*unit_bytes_)[unit]);
    profile.layers.push_back({"", kMs * bytes * costs_.pull_per_byte, kMs * costs_.forward[unit],
                              kMs * costs_.backward[unit],
                              kMs * bytes * costs_.push_ratio * costs_.push_per_byte, (*unit_bytes_)[unit]});
  }
  return profile;
}

void StepPlanner::Plan() {
  const TransferProfile profile = Profile();
  const PassProfile forward = profile.Forward(), backward = profile.Backward();
  const SegmentBound bound = profile.Bound(options_.largest_segment);
  plan_.pull = PlanTransfers(options_.strategy, forward, bound);
  plan_.push = options_.whole_push ? TransferPlan{{0, unit_bytes_->size() - 1}}
                                   : PlanTransfers(options_.strategy, backward, bound);
  plan_.predicted = 1e-3 * (FinishTime(forward, plan_.pull) + FinishTime(backward, plan_.push)) +
                    costs_.between + costs_.latency;
}

bool StepPlanner::Observe(const StepObservation& seen) {
  const bool drifted = std::abs(seen.seconds - plan_.predicted) > options_.drift * plan_.predicted;
  down_.Fade(drifted);
  up_.Fade(drifted);
  for (const auto& move : seen.pulls) down_.Observe(move.setups, move.bytes, move.seconds);
  for (const auto& move : seen.pushes) up_.Observe(move.setups, move.bytes, move.seconds);
  costs_.pull_setup = down_.setup();
  costs_.pull_per_byte = down_.per_byte();
  costs_.push_setup = up_.setup();
  costs_.push_per_byte = up_.per_byte();
  Move(costs_.forward, seen.forward);
  Move(costs_.backward, seen.backward);
  Move(costs_.between, seen.between);
  // Compression changes from one step to the next, and then stays.
  costs_.push_ratio = seen.push_ratio;
  if (!drifted) return false;
  Plan();
  return true;
}

}  // namespace tributary::inline fleet
