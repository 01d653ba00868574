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

// The transfer plan of every device: first made from its description on joining, then updated from its
// answers. Thread-safe. Planning takes microseconds and happens after an answer, not while a device waits.
class PlanBook {
 public:
  PlanBook(TransferOptions options, const Model& model);

  // The device has joined; its earlier plan is dropped.
  void Describe(std::size_t device, const Ready& ready);
  // The plan for an assignment to this device, which has `samples` samples.
  StepPlan PlanFor(std::size_t device, const TrainAssignment& assignment, std::int64_t samples);
  // Updates the plan with the measurements of a step.
  void Learn(std::size_t device, const StepObservation& seen);
  const std::vector<std::int64_t>& unit_bytes() const { return *unit_bytes_; }

  struct State {
    StepPlan plan;
    std::uint64_t replanned = 0;  // since it joined
  };
  // Nothing before the device's first assignment.
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

// The plausible measurements of a step. `first_bytes`: size of the first piece of the weights. `update`:
// arrival of the update. `seconds`: from the assignment to the end of the answer.
StepObservation ObservationOf(const Answer& answer, const StepPlan& plan,
                              std::span<const std::int64_t> unit_bytes, double first_bytes,
                              const SegmentArrivals& update, double seconds);

}  // namespace tributary::inline protocol
