#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/mutex.h"
#include "tributary/base/status.h"
#include "tributary/fleet/report.h"
#include "tributary/model/layout.h"
#include "tributary/policy/scheduling/transfer_plan.h"

namespace tributary::inline protocol {

// Which segments of a plan have arrived, and when: of weights on a device, of an update at the coordinator.
class SegmentArrivals {
 public:
  struct Arrival {
    std::size_t missing = 0;      // floats
    std::size_t floats = 0;       // total
    std::size_t bytes = 0;        // received for them
    std::size_t first_bytes = 0;  // of its first piece
    TimePoint first{0};           // arrival of the first piece
    TimePoint last{0};            // arrival of the last piece
  };

  // The ranges of the transfer units in both arrays, and a plan over these units.
  SegmentArrivals(std::span<const Segment> parameters, std::span<const Segment> statistics,
                  std::span<const LayerRun> plan);

  // Records elements, each only once, that arrived as `bytes` bytes. Returns whether a segment is complete.
  bool Take(UpdatePart part, std::size_t offset, std::size_t count, std::size_t bytes, TimePoint now);

  // In the order of the plan.
  const std::vector<Arrival>& all() const { return arrivals_; }
  bool HasUnit(std::size_t unit) const { return arrivals_[segment_of_unit_[unit]].missing == 0; }
  // Arrival of the very first piece.
  std::optional<TimePoint> first() const { return first_; }

 private:
  std::vector<Arrival> arrivals_;
  std::vector<std::size_t> segment_of_unit_;
  std::vector<std::size_t> parameter_ends_, statistic_ends_;  // per segment, its end in the array
  std::optional<TimePoint> first_;
};

// The plan with these ascending segment ends (none: one segment); nothing if the last one is missing.
std::optional<TransferPlan> PlanOfEnds(std::span<const std::uint32_t> ends, std::size_t units);
std::vector<std::uint32_t> EndsOf(std::span<const LayerRun> plan);

// Sends an update in segments, from the last to the first, on its own thread while the device still computes.
// A segment is sent when all its units are ready and the previous segment is sent.
class SegmentSender {
 public:
  // Sends a run of units of an update; blocks until sent.
  using Send = std::function<Status(const LayerRun& run, const Update& update)>;

  // `plan`: runs of units in forward order.
  SegmentSender(TransferPlan plan, Send send);
  // Drops what is not sent.
  ~SegmentSender();

  // This unit of the update is final and stays valid until sent. Thread-safe; once per unit.
  void Ready(const Update& update, std::size_t unit);
  // Waits until everything is sent; every unit must be ready. The first error of `send` ends sending.
  Status Finish();
  // After Finish: for each segment in sending order, whether it was ready before the previous one was sent.
  const std::vector<bool>& queued() const { return queued_; }

 private:
  void Run();

  const TransferPlan plan_;
  const Send send_;
  std::vector<bool> queued_;  // owned by the thread until it is joined
  std::vector<std::size_t> segment_of_unit_;

  Mutex mutex_;
  Condition changed_;
  std::vector<std::size_t> missing_ TRIBUTARY_GUARDED_BY(mutex_);  // units per segment
  Update update_ TRIBUTARY_GUARDED_BY(mutex_);
  bool given_up_ TRIBUTARY_GUARDED_BY(mutex_) = false;
  Status status_ TRIBUTARY_GUARDED_BY(mutex_);

  std::thread thread_;  // last, because it uses the other members
};

}  // namespace tributary::inline protocol
