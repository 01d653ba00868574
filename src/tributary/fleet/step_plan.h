#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tributary/fleet/transfer_profile.h"
#include "tributary/policy/scheduling/transfer_plan.h"

namespace tributary::inline fleet {

// Estimated cost of sending segments over a link in one direction: set-up time per segment and time per byte,
// in seconds. Least squares over observations with decaying weights. The set-up is one standard error below
// the estimate: a plan made from too large a set-up has too few segments to observe the mistake.
class LinkEstimate {
 public:
  // Initial estimates; observations outweigh them quickly.
  LinkEstimate(double setup, double per_byte);

  // Observes a transfer; without a set-up: what was measured after a segment's beginning.
  void Observe(double setups, double bytes, double seconds);
  // Ends a step: decays the weight of the observations so far, strongly if conditions have changed.
  void Fade(bool changed = false);
  double setup() const { return setup_; }
  double per_byte() const { return per_byte_; }

 private:
  void Solve();

  // Sums of products over all observations.
  double setups_setups_ = 0, setups_bytes_ = 0, bytes_bytes_ = 0, setups_seconds_ = 0, bytes_seconds_ = 0;
  double seconds_seconds_ = 0, observations_ = 0;
  double thought_setup_;  // before the standard error is subtracted
  double setup_, per_byte_;
};

// The segments of one training step's transfers: pulled in forward order, pushed from the last to the first.
struct StepPlan {
  TransferPlan pull, push;
  double predicted = 0;  // seconds from the first byte of the weights to the last byte of the update
};

// Sums `units` over a run. A network without weights has no units, and the single run of its plan is empty.
template <typename Units>
typename Units::value_type SumOver(const LayerRun& run, const Units& units) {
  typename Units::value_type sum{};
  for (std::size_t unit = run.first; unit <= run.last && unit < units.size(); ++unit) sum += units[unit];
  return sum;
}

// Costs of a step on a device, in seconds.
struct StepCosts {
  std::vector<double> forward, backward;  // per unit; of the first forward and the last backward pass
  double between = 0;                     // computation between those two passes
  double latency = 0;                     // before the first byte and after the last
  double pull_setup = 0, push_setup = 0;  // per segment
  double pull_per_byte = 0, push_per_byte = 0;
  double push_ratio = 1;  // bytes sent per byte of the update; below 1 with compression
};

// Measurements of a step. Transfers are in the form of LinkEstimate::Observe; empty where not measurable.
struct StepObservation {
  struct Move {
    double setups = 0, bytes = 0, seconds = 0;
  };
  std::vector<Move> pulls, pushes;
  std::vector<double> forward, backward;
  double between = 0;
  double push_ratio = 1;
  double seconds = 0;  // total, comparable to StepPlan::predicted
};

// Keeps the plan of one device up to date: tracks the costs of its steps, and plans again when predicted and
// measured times drift apart. Pure; the caller decides when, which keeps planning off the critical path.
class StepPlanner {
 public:
  // `unit_bytes`: bytes of each transfer unit on the wire.
  StepPlanner(TransferOptions options, std::shared_ptr<const std::vector<std::int64_t>> unit_bytes,
              const StepCosts& first);
  const StepPlan& plan() const { return plan_; }
  const StepCosts& costs() const { return costs_; }
  // The input of the planner; names are empty.
  TransferProfile Profile() const;

  // Returns whether it made a new plan.
  bool Observe(const StepObservation& seen);

 private:
  void Plan();

  TransferOptions options_;
  std::shared_ptr<const std::vector<std::int64_t>> unit_bytes_;
  StepCosts costs_;
  LinkEstimate down_, up_;
  StepPlan plan_;
};

}  // namespace tributary::inline fleet
