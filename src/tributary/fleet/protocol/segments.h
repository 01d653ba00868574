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

// Which segments of a plan have come, and when: of weights on a device, of an update at the coordinator.
class SegmentArrivals {
 public:
  struct Arrival {
    std::size_t missing = 0;      // floats
    std::size_t floats = 0;       // in all
    std::size_t bytes = 0;        // that came for them
    std::size_t first_bytes = 0;  // of its first piece
    TimePoint first{0};           // when that had come
    TimePoint last{0};            // and the last
  };

  // Where each transfer unit lies in the two arrays; the plan's runs are over these units, in their order.
  SegmentArrivals(std::span<const Segment> parameters, std::span<const Segment> statistics,
                  std::span<const LayerRun> plan);

  // Elements that came now in so many bytes, none of which came before: the caller sees to it. Returns whether they
  // completed a segment.
  bool Take(UpdatePart part, std::size_t offset, std::size_t count, std::size_t bytes, TimePoint now);

  // In the order of the plan.
  const std::vector<Arrival>& all() const { return arrivals_; }
  bool HasUnit(std::size_t unit) const { return arrivals_[segment_of_unit_[unit]].missing == 0; }
  // When its very first piece had come, and its last.
  std::optional<TimePoint> first() const { return first_; }

 private:
  std::vector<Arrival> arrivals_;
  std::vector<std::size_t> segment_of_unit_;
  std::vector<std::size_t> parameter_ends_, statistic_ends_;  // per segment, where it ends in the array
  std::optional<TimePoint> first_;
};

// The plan whose segments end with these units, which rise; none: one segment with all. Nothing if the last of them is
// not the last unit.
std::optional<TransferPlan> PlanOfEnds(std::span<const std::uint32_t> ends, std::size_t units);
std::vector<std::uint32_t> EndsOf(std::span<const LayerRun> plan);

// Sends an update by segments, from the last to the first, on a thread of its own, while the rest is still computed: a
// segment leaves when all its units are ready and the one before it has left.
class SegmentSender {
 public:
  // Sends what an update has of a run of units; blocks until it has left.
  using Send = std::function<Status(const LayerRun& run, const Update& update)>;

  // `plan` has runs of units in forward order.
  SegmentSender(TransferPlan plan, Send send);
  // Gives up what has not left yet.
  ~SegmentSender();

  // This unit's values are as they will be, and stay so until it is finished. From any thread, each unit once.
  void Ready(const Update& update, std::size_t unit);
  // Waits until everything has left. Every unit must be ready by now. The first failure to send, if there is one; then
  // the rest is not sent.
  Status Finish();
  // After Finish: for each segment in the order of sending, whether it was ready before the one before it had left.
  const std::vector<bool>& queued() const { return queued_; }

 private:
  void Run();

  const TransferPlan plan_;
  const Send send_;
  std::vector<bool> queued_;  // of the thread, until it is joined
  std::vector<std::size_t> segment_of_unit_;

  Mutex mutex_;
  Condition changed_;
  std::vector<std::size_t> missing_ TRIBUTARY_GUARDED_BY(mutex_);  // units per segment
  Update update_ TRIBUTARY_GUARDED_BY(mutex_);
  bool given_up_ TRIBUTARY_GUARDED_BY(mutex_) = false;
  Status status_ TRIBUTARY_GUARDED_BY(mutex_);

  std::thread thread_;  // Last: it uses the others.
};

}  // namespace tributary::inline protocol
