#pragma once

#include <set>

#include "tributary/fleet/fleet.h"

namespace tributary::inline fleet {

// Decides when a synchronous round is over: when every participant has completed or failed. Given `quorum`
// completed devices, also at the deadline, or when all other participants are lost.
class SynchronousRound {
 public:
  SynchronousRound(std::size_t participants, std::size_t quorum, std::optional<Duration> deadline,
                   TimePoint start);

  // Events must come in order.
  void On(const FleetEvent& event);
  bool over() const;
  // When the round may end by time alone, for Fleet::Next; nothing without a deadline or before the quorum.
  std::optional<TimePoint> timer() const;
  // The order's, or what an operator has changed it to.
  std::size_t quorum() const { return quorum_; }

 private:
  const std::size_t participants_;
  std::size_t quorum_;
  const std::optional<Duration> deadline_;
  TimePoint from_;  // start of the deadline
  TimePoint now_;
  std::size_t completed_ = 0, failed_ = 0;
  std::set<DeviceId> lost_;
  bool idle_ = false;
};

// Dispatches the order, and closes it when the round is over or the fleet fails.
StatusOr<RoundReport> RunRound(Fleet& fleet, WorkOrder order, UpdateSink* sink = nullptr);

}  // namespace tributary::inline fleet
