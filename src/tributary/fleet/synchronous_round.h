#pragma once

#include <set>

#include "tributary/fleet/fleet.h"

namespace tributary::inline fleet {

// When a synchronous round is over: once every participant has completed or failed. With a deadline also then, and
// without the devices that are lost, but in both cases not before `quorum` devices have completed.
class SynchronousRound {
 public:
  SynchronousRound(std::size_t participants, std::size_t quorum, std::optional<Duration> deadline,
                   TimePoint start);

  // Events in their order.
  void On(const FleetEvent& event);
  bool over() const;
  // When it may be over by time alone, for Fleet::Next; nothing if that cannot be, before there is a quorum.
  std::optional<TimePoint> timer() const;
  // The order's, or what an operator has changed it to.
  std::size_t quorum() const { return quorum_; }

 private:
  const std::size_t participants_;
  std::size_t quorum_;
  const std::optional<Duration> deadline_;
  TimePoint from_;  // what the deadline counts from
  TimePoint now_;
  std::size_t completed_ = 0, failed_ = 0;
  std::set<DeviceId> lost_;
  bool idle_ = false;
};

// Dispatches the order and closes it when the round is over, or when the fleet fails.
StatusOr<RoundReport> RunRound(Fleet& fleet, WorkOrder order, UpdateSink* sink = nullptr);

}  // namespace tributary::inline fleet
