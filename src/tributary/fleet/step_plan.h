#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tributary/fleet/link_estimate.h"
#include "tributary/fleet/transfer_profile.h"
#include "tributary/policy/scheduling/transfer_plan.h"

namespace tributary::inline fleet {

// How a device's transfers are cut in one step of training: pulled in forward order, and pushed from the last segment
// to the first.
struct StepPlan {
  TransferPlan pull, push;
  double predicted = 0;  // seconds from the first byte of the weights to the last of the update
};

// What a device needs for a step, in seconds.
struct StepCosts {
  std::vector<double> forward, backward;  // per unit; of the first pass and of the last one
  double between = 0;                     // computing between those two
  double latency = 0;                     // before the first byte and after the last
  double pull_setup = 0, push_setup = 0;  // per segment
  double pull_per_byte = 0, push_per_byte = 0;
  double push_ratio =
      1;  // bytes that are sent for a byte of the update: less than one where it is compressed
};

// What was seen of a step. Transfers are as LinkEstimate::Observe wants them; nothing where nothing could be seen.
struct StepObservation {
  struct Move {
    double setups = 0, bytes = 0, seconds = 0;
  };
  std::vector<Move> pulls, pushes;
  std::vector<double> forward, backward;
  double between = 0;
  double push_ratio = 1;
  double seconds = 0;  // all of it, as StepPlan::predicted counts
};

// Keeps one device's plan fitting: follows what its steps cost, and plans again when the time that the plan promised and
// the time it took drift apart. Pure; the caller decides when, so that planning is on no critical path.
class StepPlanner {
 public:
  // `unit_bytes`: what each transfer unit takes on the way.
  StepPlanner(TransferOptions options, std::shared_ptr<const std::vector<std::int64_t>> unit_bytes,
              const StepCosts& first);

  const StepPlan& plan() const { return plan_; }
  const StepCosts& costs() const { return costs_; }
  // As plans are made from it; names are left empty.
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
