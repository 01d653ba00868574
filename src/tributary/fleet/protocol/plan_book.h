#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tributary/base/mutex.h"
#include "tributary/fleet/assignment.h"
#include "tributary/fleet/messages.h"
#include "tributary/fleet/protocol/segments.h"
#include "tributary/fleet/step_plan.h"
#include "tributary/model/model.h"

namespace tributary::inline protocol {

// The plan of transfers of every device: made from what it says of itself on joining, and kept fitting by what its
// answers show. From any thread; planning takes microseconds and is done when an answer is in, not when one is awaited.
class PlanBook {
 public:
  PlanBook(TransferOptions options, const Model& model);

  // The device has joined: what was known of it is forgotten.
  void Describe(std::size_t device, const Ready& ready);
  // For an assignment to this device with `samples` samples.
  StepPlan PlanFor(std::size_t device, const TrainAssignment& assignment, std::int64_t samples);
  // One of its steps went like this.
  void Learn(std::size_t device, const StepObservation& seen);

  const std::vector<std::int64_t>& unit_bytes() const { return *unit_bytes_; }

  struct State {
    StepPlan plan;
    std::uint64_t replanned = 0;  // times since it joined
  };
  // Nothing before its first assignment.
  std::optional<State> Look(std::size_t device) const;

 private:
  struct Entry {
    Ready ready;
    std::unique_ptr<StepPlanner> planner;
    std::uint64_t replanned = 0;
  };
  StepCosts FirstCosts(const Ready& ready, const TrainAssignment& assignment, std::int64_t samples) const;

  const TransferOptions options_;
  const UnitCosts units_;
  const std::shared_ptr<const std::vector<std::int64_t>> unit_bytes_;

  mutable Mutex mutex_;
  std::vector<Entry> entries_ TRIBUTARY_GUARDED_BY(mutex_);  // per device
};

// What an answer shows of its step. `first_bytes` is the size of the first piece of the weights, `update` how the update
// came in, and `seconds` the time from asking to the end of the answer. A device may say anything: what makes no sense
// is left out.
StepObservation ObservationOf(const Answer& answer, const StepPlan& plan,
                              std::span<const std::int64_t> unit_bytes, double first_bytes,
                              const SegmentArrivals& update, double seconds);

}  // namespace tributary::inline protocol
