#include "tributary/fleet/step_plan.h"

#include <algorithm>
#include <cmath>

#include "tributary/base/check.h"

namespace tributary::inline fleet {
namespace {

// Decay of an observation's weight per step: smaller values follow changes faster and are noisier.
constexpr double kKept = 0.8;
constexpr double kKeptWhenChanged = 0.1;
// Weights of the previous estimate: small, but they decide what the observations leave open.
constexpr double kThoughtSetups = 0.1;
constexpr double kThoughtBytes = 1024;

// Weight of the latest observation in an estimate: larger values follow changes faster and are noisier.
constexpr double kNewest = 0.3;

void Move(double& estimate, double seen) { estimate += kNewest * (seen - estimate); }

void Move(std::vector<double>& estimates, const std::vector<double>& seen) {
  if (seen.size() != estimates.size()) return;
  for (std::size_t i = 0; i < seen.size(); ++i) Move(estimates[i], seen[i]);
}

}  // namespace

LinkEstimate::LinkEstimate(double setup, double per_byte)
    : thought_setup_(setup), setup_(setup), per_byte_(per_byte) {}

void LinkEstimate::Observe(double setups, double bytes, double seconds) {
  setups_setups_ += setups * setups;
  setups_bytes_ += setups * bytes;
  bytes_bytes_ += bytes * bytes;
  setups_seconds_ += setups * seconds;
  bytes_seconds_ += bytes * seconds;
  seconds_seconds_ += seconds * seconds;
  observations_ += 1;
  Solve();
}

void LinkEstimate::Fade(bool changed) {
  for (double* sum : {&setups_setups_, &setups_bytes_, &bytes_bytes_, &setups_seconds_, &bytes_seconds_,
                      &seconds_seconds_, &observations_}) {
    *sum *= changed ? kKeptWhenChanged : kKept;
  }
}

void LinkEstimate::Solve() {
  const double ss = setups_setups_ + kThoughtSetups * kThoughtSetups;
  const double bb = bytes_bytes_ + kThoughtBytes * kThoughtBytes;
  const double st = setups_seconds_ + kThoughtSetups * kThoughtSetups * thought_setup_;
  const double bt = bytes_seconds_ + kThoughtBytes * kThoughtBytes * per_byte_;
  const double determinant =
      ss * bb - setups_bytes_ * setups_bytes_;  // positive because of the added weights
  setup_ = (st * bb - bt * setups_bytes_) / determinant;
  per_byte_ = (ss * bt - setups_bytes_ * st) / determinant;
  // Neither can be negative. If noise makes one negative, the other explains everything.
  if (setup_ < 0) {
    setup_ = 0;
    per_byte_ = bt / bb;
  }
  if (per_byte_ < 0) {
    per_byte_ = 0;
    setup_ = st / ss;
  }
  thought_setup_ = setup_;
  if (observations_ <= 3) return;  // Two parameters fit so few observations without residual.
  const double rest = seconds_seconds_ - 2 * (setup_ * setups_seconds_ + per_byte_ * bytes_seconds_) +
                      setup_ * setup_ * setups_setups_ + 2 * setup_ * per_byte_ * setups_bytes_ +
                      per_byte_ * per_byte_ * bytes_bytes_;
  const double error = std::sqrt(std::max(0.0, rest) / (observations_ - 2) * bb / determinant);
  setup_ = std::max(0.0, setup_ - error);
}

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
