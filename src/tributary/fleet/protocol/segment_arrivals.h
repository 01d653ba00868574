#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tributary/base/clock.h"
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
  bool complete() const { return incomplete_ == 0; }
  // When its very first piece had come, and its last.
  std::optional<TimePoint> first() const { return first_; }

 private:
  std::vector<Arrival> arrivals_;
  std::vector<std::size_t> segment_of_unit_;
  std::vector<std::size_t> parameter_ends_, statistic_ends_;  // per segment, where it ends in the array
  std::size_t incomplete_ = 0;
  std::optional<TimePoint> first_;
};

// The plan whose segments end with these units, which rise; none: one segment with all. Nothing if the last of them is
// not the last unit.
std::optional<TransferPlan> PlanOfEnds(std::span<const std::uint32_t> ends, std::size_t units);
std::vector<std::uint32_t> EndsOf(std::span<const LayerRun> plan);

}  // namespace tributary::inline protocol
