#include "tributary/fleet/synchronous_round.h"

namespace tributary::inline fleet {

SynchronousRound::SynchronousRound(std::size_t participants, std::size_t quorum,
                                   std::optional<Duration> deadline, TimePoint start)
    : participants_(participants), quorum_(quorum), deadline_(deadline), from_(start), now_(start) {}

void SynchronousRound::On(const FleetEvent& event) {
  using Kind = FleetEvent::Kind;
  now_ = event.at;
  if (event.kind == Kind::kCompleted) ++completed_;
  if (event.kind == Kind::kFailed) ++failed_;
  if (event.kind == Kind::kLost) lost_.insert(event.device);
  // A device whose part has ended is not lost.
  if (event.kind == Kind::kCompleted || event.kind == Kind::kFailed || event.kind == Kind::kReturned)
    lost_.erase(event.device);
  if (event.kind == Kind::kReleased) from_ = event.at;
  if (event.kind == Kind::kQuorum) quorum_ = event.quorum;
  if (event.kind == Kind::kIdle) idle_ = true;
}

bool SynchronousRound::over() const {
  if (idle_ || completed_ + failed_ == participants_) return true;
  if (completed_ < quorum_) return false;
  return completed_ + failed_ + lost_.size() == participants_ || (deadline_ && now_ - from_ >= *deadline_);
}

std::optional<TimePoint> SynchronousRound::timer() const {
  if (!deadline_ || completed_ < quorum_) return std::nullopt;
  return from_ + *deadline_;
}

StatusOr<RoundReport> RunRound(Fleet& fleet, WorkOrder order, UpdateSink* sink) {
  SynchronousRound round(order.participants.size(), order.quorum, order.deadline, fleet.clock().Now());
  TRIBUTARY_RETURN_IF_ERROR(fleet.Dispatch(std::move(order), sink));
  while (!round.over()) {
    const StatusOr<FleetEvent> event = fleet.Next(round.timer());
    if (!event.ok()) {
      const StatusOr<RoundReport> closed = fleet.Close();
      return closed.ok() ? event.status() : closed.status();
    }
    round.On(*event);
  }
  StatusOr<RoundReport> report = fleet.Close();
  if (report.ok()) report->quorum = round.quorum();
  return report;
}

}  // namespace tributary::inline fleet
