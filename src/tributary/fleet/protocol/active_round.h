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

// A device's part in an order, whichever session is at work on it.
struct Participant {
  DeviceReport report;
  EvaluationTotals totals;         // of an evaluation
  std::optional<Moments> moments;  // of a calibration
  Work work;
  std::int64_t samples = 0;      // that the device has for training
  double most_weight = 0;        // that its answer may have
  std::size_t share = 0;         // samples that it is to send
  SharedBytes shared;            // and has sent, with an answer that was taken
  std::size_t answer_bytes = 0;  // that an answer takes, without headings
  Session* session = nullptr;    // that is at work on it; it has a task
  bool begun = false;
  bool retracting = false;  // What an earlier session sent is being taken back.
  bool finished = false;
  TimePoint finished_at{0};
  bool lost = false;  // as the caller was told

  DeviceId device() const { return report.device; }
  bool applied() const { return finished && report.outcome == Outcome::kApplied; }
};

// The participants of the order that is open, and what there is to tell of them. It knows nothing of what they send.
//
// Not for several threads at once: the exchange calls it with its lock held. But while somebody has pinned the round, its
// sink and weights may be used without the lock, and the exchange does not close the order.
class ActiveRound {
 public:
  // Everything else must outlive it; `devices` is indexed by number, and what the caller thinks that they have.
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

  // The participant's part is over, with this outcome.
  void Finish(Participant& participant, Outcome outcome, std::string reason, DeferredCalls& calls);
  // The bytes of a task, whatever came of it.
  static void Charge(Participant& participant, const Task& task);
  // Ends the task of one whose session is at work, and tells the device. What came of it is still to be taken back.
  std::unique_ptr<Task> EndTask(Participant& participant, const std::string& reason, DeferredCalls& calls);
  // Ends the tasks that are not answered yet. What came of each, in the order of the participants, is still to be taken
  // back.
  std::vector<std::unique_ptr<Task>> EndTasks(DeferredCalls& calls);
  // When all is ended: what became of everybody, as the members remember it too.
  RoundReport TakeResults(TimePoint end);

  // How many answers are needed: as the order says, or an operator since, and no more than participants that still belong
  // to the run.
  std::size_t quorum() const;
  // An operator has changed something that the quorum follows from.
  void TellQuorum(DeferredCalls& calls);

  // What the caller has not been told yet, if anything.
  std::optional<FleetEvent> NextEvent();
  // Whether the deadline, if there is one, has passed.
  bool TimeIsUp() const;
  // Whether the device is gone for longer than is forgiven, or makes no progress.
  bool IsGone(const Participant& participant) const;
  bool IsStalled(const Participant& participant) const;
  // How long the participant's task for so many samples may go without progress.
  Duration PatienceFor(const Participant& participant, double samples) const;
  // When the next of these may come true by time alone; nothing if none can.
  std::optional<TimePoint> NextDeadline() const;
  // Seconds to the deadline, as an assignment has them.
  double TimeLeft() const;
  // Devices that waited for each other go on: the deadline counts from now on.
  void Release(DeferredCalls& calls);

  // While it is open, tasks begin and messages count.
  bool open() const { return open_; }
  void Close() { open_ = false; }
  void Pin() { ++pins_; }
  void Unpin(DeferredCalls& calls);
  bool pinned() const { return pins_ > 0; }
  // The round cannot go on. The first reason stays.
  void Fail(Status reason, DeferredCalls& calls);
  const Status& failure() const { return failure_; }

 private:
  // One device whose loss, or whose return, the caller has not been told yet.
  std::optional<FleetEvent> TellPresence(bool lost);

  const WorkOrder order_;
  const ExchangeOptions& options_;
  Sessions& sessions_;
  const Clock& clock_;
  const TimePoint start_;
  TimePoint patient_from_;  // what the deadline counts from
  std::vector<Participant> participants_;
  std::map<DeviceId, std::size_t> place_of_;
  double slowest_ = 0;  // MACs per second that a device is expected to make at least
  std::deque<FleetEvent> events_;
  std::size_t pins_ = 0;
  bool open_ = true;
  Status failure_;
};

}  // namespace tributary::inline protocol
