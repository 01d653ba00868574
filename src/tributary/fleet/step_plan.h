#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tributary/fleet/transfer_profile.h"
#include "tributary/policy/scheduling/strategies.h"

namespace tributary::inline fleet {

// What it costs to send segments over a link in one direction, learnt from what was seen: a set-up time for each and a
// time for each byte, by least squares over observations that fade. Seconds and bytes. Of the set-up only what stands out
// of the noise counts, a standard error less than the estimate: a plan that believes in too large a set-up cuts too
// little, and never finds out.
class LinkEstimate {
 public:
  // A first guess; it weighs little against anything seen.
  LinkEstimate(double setup, double per_byte);

  // This many segment set-ups and bytes took this long. Without a set-up: what came after a segment's beginning.
  void Observe(double setups, double bytes, double seconds);
  // A step is over: what was seen up to now counts for less against what comes; for much less if things have changed.
  void Fade(bool changed = false);

  double setup() const { return setup_; }
  double per_byte() const { return per_byte_; }

 private:
  void Solve();

  // Sums of products over all observations.
  double setups_setups_ = 0, setups_bytes_ = 0, bytes_bytes_ = 0, setups_seconds_ = 0, bytes_seconds_ = 0;
  double seconds_seconds_ = 0, observations_ = 0;
  double thought_setup_;  // without what the noise takes off
  double setup_, per_byte_;
};

// How a device's transfers are cut in one step of training: pulled in forward order, and pushed from the last segment
// to the first.
struct StepPlan {
  TransferPlan pull, push;
  double predicted = 0;  // seconds from the first byte of the weights to the last of the update
};

// What the units of a run come to together. A network without weights has no units, and its plan's one run is empty.
template <typename Units>
typename Units::value_type SumOver(const LayerRun& run, const Units& units) {
  typename Units::value_type sum{};
  for (std::size_t unit = run.first; unit <= run.last && unit < units.size(); ++unit) sum += units[unit];
  return sum;
}

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
