#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tributary/fleet/fleet.h"
#include "tributary/fleet/protocol/sessions.h"

namespace tributary::inline protocol {

// A device's part in an order, across its sessions.
struct Participant {
  DeviceReport report;
  EvaluationTotals totals;         // evaluation only
  std::optional<Moments> moments;  // calibration only
  Work work;
  std::int64_t samples = 0;      // training samples of the device
  double most_weight = 0;        // upper bound for its answer's weight
  std::size_t share = 0;         // number of samples that it is to share
  SharedBytes shared;            // received shared samples, of an accepted answer
  std::size_t answer_bytes = 0;  // size of an answer, without headers
  Session* session = nullptr;    // the session that works on it, which has a task
  bool begun = false;
  int starts = 0;           // how often a session began to work on it
  bool retracting = false;  // the pieces of an earlier session are being discarded
  bool finished = false;
  TimePoint finished_at{0};
  bool lost = false;  // as reported to the caller

  DeviceId device() const { return report.device; }
  bool applied() const { return finished && report.outcome == Outcome::kApplied; }
};

// The participants of the open order and the pending events. Not thread-safe: Exchange calls it with its
// lock. While the round is pinned, its sink and weights may be used without the lock, and the order stays
// open.
class ActiveRound {
 public:
  // All references must outlive it. `devices`, indexed by number, has the caller's view of each device.
  ActiveRound(WorkOrder order, std::span<const DeviceProfile> devices, const ExchangeOptions& options,
              Sessions& sessions, const Clock& clock);

  const WorkOrder& order() const { return order_; }
  bool trains() const { return std::holds_alternative<TrainAssignment>(order_.work); }
  bool calibrates() const { return std::holds_alternative<CalibrateAssignment>(order_.work); }
  bool collects() const { return std::holds_alternative<CollectAssignment>(order_.work); }
  std::vector<Participant>& participants() { return participants_; }
  const std::vector<Participant>& participants() const { return participants_; }
  // Null if it does not take part.
  Participant* Find(DeviceId device);
  Participant& Of(DeviceId device) { return participants_[place_of_.at(device)]; }
  Participant& Of(const Session& session) { return Of(DeviceId{*session.member}); }
  std::size_t PlaceOf(const Participant& participant) const {
    return static_cast<std::size_t>(&participant - participants_.data());
  }

  void Finish(Participant& participant, Outcome outcome, std::string reason, DeferredCalls& calls);
  // Accounts for the bytes of a task, whatever its outcome.
  static void Charge(Participant& participant, const Task& task);
  // Ends the task of a participant with a session and tells the device. The caller discards its pieces.
  std::unique_ptr<Task> EndTask(Participant& participant, const std::string& reason, DeferredCalls& calls);
  // Ends all unanswered tasks, in the order of the participants. The caller discards their pieces.
  std::vector<std::unique_ptr<Task>> EndTasks(DeferredCalls& calls);
  // After all tasks have ended: the results of all participants. Also updates the members.
  RoundReport TakeResults(TimePoint end);

  // The number of answers needed: the order's quorum or an operator's, at most the participants that still belong to the run.
  std::size_t quorum() const;
  // Reports that an operator has changed something that the quorum depends on.
  void TellQuorum(DeferredCalls& calls);

  std::optional<FleetEvent> NextEvent();
  // Whether there is a deadline and it has passed.
  bool TimeIsUp() const;
  // Whether the device has been gone for longer than the grace period, or makes no progress.
  bool IsGone(const Participant& participant) const;
  bool IsStalled(const Participant& participant) const;
  // How long the participant's task for this number of samples may go without progress.
  Duration PatienceFor(const Participant& participant, double samples) const;
  // The next time at which one of these may become true; nothing if time alone cannot change them.
  std::optional<TimePoint> NextDeadline() const;
  // Seconds until the deadline, in the form of Assignment::time_left_seconds.
  double TimeLeft() const;
  // Devices that waited for each other go on: the deadline restarts now.
  void Release(DeferredCalls& calls);

  // While the round is open, tasks may begin and messages count.
  bool open() const { return open_; }
  void Close() { open_ = false; }
  void Pin() { ++pins_; }
  void Unpin(DeferredCalls& calls);
  bool pinned() const { return pins_ > 0; }
  // The round cannot go on. The first reason is kept.
  void Fail(Status reason, DeferredCalls& calls);
  const Status& failure() const { return failure_; }

 private:
  // Returns the next device whose loss, or return, has not been reported.
  std::optional<FleetEvent> TellPresence(bool lost);

  const WorkOrder order_;
  const ExchangeOptions& options_;
  Sessions& sessions_;
  const Clock& clock_;
  const TimePoint start_;
  TimePoint patient_from_;  // start of the deadline
  std::vector<Participant> participants_;
  std::map<DeviceId, std::size_t> place_of_;
  double slowest_ = 0;  // MACs per second that a device is expected to make at least
  std::deque<FleetEvent> events_;
  std::size_t pins_ = 0;
  bool open_ = true;
  Status failure_;
};

}  // namespace tributary::inline protocol
