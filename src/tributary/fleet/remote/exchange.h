#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/file.h"
#include "tributary/base/status.h"
#include "tributary/data/sample_format.h"
#include "tributary/experiment/portion.h"
#include "tributary/fleet/cut_wire.h"
#include "tributary/fleet/fleet.h"
#include "tributary/fleet/member.h"
#include "tributary/fleet/remote/connection.h"
#include "tributary/fleet/remote/coverage.h"
#include "tributary/fleet/remote/members.h"
#include "tributary/fleet/remote/messages.h"
#include "tributary/fleet/remote/plan_book.h"
#include "tributary/model/model.h"

namespace tributary::remote {

struct ExchangeOptions {
  std::shared_ptr<const Model> model;
  // How weights and updates are cut on their way.
  TransferOptions transfers;
  bool compressed = false;  // whether updates may come as encoded blocks
  std::size_t menu =
      0;  // from how many parts of the network a device chooses what it trains; 0 where it has no choice
  std::optional<SampleFormat> shared;  // of samples that travel; none where none may
  std::optional<CutWire>
      cut;  // what goes over the cut of a network that has one; `model` is what devices have
  // What every device is told on joining, but for its number. `layout` and `piece_floats` are what both sides go by.
  Welcome welcome;
  // How long a device that has gone is still waited for, where the round could end without it. Longer forgives longer
  // breaks of the network; shorter ends rounds sooner.
  Duration grace = std::chrono::seconds(10);
  // A connection that has not greeted by then is closed.
  Duration greeting_time = std::chrono::seconds(10);
  // A connection whose peer has taken nothing for so long of what waits to be sent is closed. Longer bears slower links.
  Duration stall_time = std::chrono::minutes(2);
  std::size_t most_sessions = 10'000;
  // A device may not count for more, whatever it says it has.
  std::int64_t most_samples = 100'000'000;
  // Another in every life of a coordinator, by chance: names the meetings of its rounds.
  std::uint64_t life = 0;
  // For updates on their way (update_journal.h).
  std::filesystem::path spool = "/tmp";
};

// Where the coordinator and its devices meet: connections come and go, messages arrive in any order and from anybody,
// and one inquiry at a time is put to some of the devices. All rules of the protocol are kept here; it knows nothing of
// sockets, and nothing of what updates are for.
//
// A device's answer goes to the sink piece by piece as it arrives; memory does not grow with the number of devices. An
// answer that is not completed, because the device vanished, broke the rules or was too late, is taken back exactly.
// A device that comes back during an inquiry is asked again, and since its work is a function of the assignment and
// its data it answers the same.
//
// Ask is for one thread at a time; everything else may be called from any thread.
class Exchange {
 public:
  struct Session;  // one connection

  Exchange(ExchangeOptions options, const Clock& clock);
  ~Exchange();

  // Carriers of connections:

  // A connection has come. `identity` is whom its certificate names; without one the device may say any name.
  StatusOr<std::shared_ptr<Session>> Open(std::shared_ptr<Connection> connection,
                                          std::optional<std::string> identity, std::string address);
  // A message has come; one at a time for each session. A Status is the reason to close the connection: the session
  // counts no more, and what the device was working on has been refused.
  Status Receive(Session& session, const FromDevice& message, ByteSpan values);
  // The same for bytes that are no message. Returns the reason.
  Status Refuse(Session& session, Status reason);
  // What is to be sent next, if anything, is handed to `send` before this returns; the values are valid only then. One
  // at a time for each session.
  bool Next(Session& session, const std::function<void(const ToDevice&, ByteSpan values)>& send);
  // The connection is over. The last call for a session.
  void Closed(Session& session);
  // To be called now and then: closes what is only half open, does not read, or is admitted no longer.
  void Tick();

  // The fleet:

  // Those that belonged to the run before, in their order.
  void Restore(std::span<const FleetMember> known);
  // The answers of this round are in the model.
  void Counted(RoundId round);
  // A checkpoint has remembered these, which were taken from members().
  void MarkDurable(std::span<const FleetMember> saved);
  std::vector<Member> members() const;
  // Samples that devices have shared in the last round.
  std::size_t Shared() const;
  std::optional<PlanBook::State> PlanOf(DeviceId device) const { return plans_.Look(device.value); }
  const Clock& clock() const { return clock_; }
  // Waits until so many devices with samples are there, or until `stop` says so (then Cancelled).
  Status AwaitPresent(std::size_t least, const std::function<bool()>& stop);
  // Likewise, so many of all that ever came; and for each of the others until it has been gone for longer than is forgiven.
  Status AwaitQuorum(const Portion& quorum, const std::function<bool()>& stop);

  // What became of one participant.
  struct Result {
    DeviceReport report;
    EvaluationTotals totals;         // of an evaluation
    std::optional<Moments> moments;  // of a calibration
  };
  struct Results {
    TimePoint start{0}, end{0};
    std::vector<Result> devices;  // in the order of the participants
  };
  using Work = std::variant<TrainAssignment, EvaluateAssignment, CalibrateAssignment, CollectAssignment>;
  // Puts the question to the participants and waits as the inquiry says; only answers that were taken count for its
  // quorum. `portions` tells training apart for each participant. `sink` takes the updates of training, each weighing no
  // more than the samples that `devices`, indexed by number, were thought to have by the asker, whatever they have said
  // since; and the models that are collected. When it returns, Cancelled or not, the sink holds exactly the answers that
  // were complete.
  struct Portions {
    std::span<const std::size_t> batches;  // samples of each; empty: as the work says
    std::span<const std::size_t> share;    // and how many of them it shares; empty: none
    std::span<const std::int64_t> first;   // where each begins (TrainAssignment::first)
    CutServer* server = nullptr;           // of a cut network: what devices send over the cut goes there
    std::span<const std::vector<Meeting>> meetings;  // whom each meets (RoundRequest::meetings)
  };
  StatusOr<Results> Ask(const Inquiry& inquiry, const Work& work, const Portions& portions,
                        std::span<const DeviceProfile> devices, UpdateSink* sink,
                        const std::function<bool()>& stop);

  // Tells everybody that it is over, or (not `finished`) that the coordinator goes away; no more are let in.
  void SayFarewell(bool finished);
  std::size_t sessions() const;

 private:
  struct Task;
  struct Slot;
  struct Question;
  class Errands;
  using Lock = std::unique_lock<std::mutex>;

  Status Handle(Session& session, const Greeting& greeting, ByteSpan values);
  Status Handle(Session& session, const Ping& ping, ByteSpan values);
  Status Handle(Session& session, const Ready& ready, ByteSpan values);
  Status Handle(Session& session, const Piece& piece, ByteSpan values);
  Status Handle(Session& session, const Answer& answer, ByteSpan values);
  Status Handle(Session& session, const Failure& failure, ByteSpan values);
  Status Handle(Session& session, const Samples& samples, ByteSpan values);
  Status Handle(Session& session, const Crossing& crossing, ByteSpan values);
  Status Handle(Session& session, const Relay& relay, ByteSpan values);
  Status Handle(Session& session, const Relayed& relayed, ByteSpan values);

  Status CheckPace(Session& session, const FromDevice& message);
  // One more message that carries no work.
  Status Pace(Session& session);
  Status CheckPiece(Session& session, const Piece& piece, ByteSpan values);
  Status Store(Task& task, DeviceId device, const Piece& piece, ByteSpan values);
  // Whether this message belongs to an assignment that ended before the device could know; `last` if none follows it.
  bool IsLate(Session& session, std::uint64_t ticket, std::size_t bytes, bool last);
  // Whether the session may answer this.
  Status CheckWorking(const Session& session, std::uint64_t ticket) const;
  Slot& SlotOf(const Session& session);
  // The weights in the order of a plan's segments, cut where pieces may be.
  std::vector<std::pair<Array, Segment>> Outgoing(const TransferPlan& plan) const;
  TransferPlan Whole() const;
  // Where the time of an answered assignment went; of training, what plans can learn from it.
  StepObservation Describe(const Task& task, const Answer& answer, TimePoint now, DeviceReport& report) const;

  void Send(Session& session, ToDevice message, std::size_t zeros, Errands& errands);
  // What all others shared in the last round, in the order of their numbers.
  std::vector<std::shared_ptr<const std::vector<std::byte>>> SharedWith(std::size_t member) const;
  std::size_t CountOf(const std::vector<std::byte>& records) const;
  // Puts up a new question; then gives a session its part in it, if it has one.
  void Pose(const Inquiry& inquiry, const Work& work, const Portions& portions,
            std::span<const DeviceProfile> devices, UpdateSink* sink, Errands& errands);
  void Begin(Session& session, Errands& errands);
  void Settle(Slot& slot, Outcome outcome, std::string reason);
  // Likewise of one whose session cannot go on.
  void GiveUp(Slot& slot, Outcome outcome, std::string reason, Errands& errands);
  void Charge(Slot& slot, const Task& task);
  // Ends what the session was doing and takes back what came of it. The lock is given up in between.
  void Abandon(Lock& lock, Session& session, Errands& errands);
  void TakeBack(Task& task, DeviceId device, UpdateSink* sink);
  void Leave(Lock& lock, Session& session, Errands& errands);
  bool Over(TimePoint now) const;
  // Whether this member can be asked, and has samples.
  bool Present(std::size_t member) const;
  Status AwaitHere(const std::function<bool()>& enough, const std::function<bool()>& stop);
  // Ends what is not answered yet. What came of it, per participant, is still to be taken back.
  std::vector<std::unique_ptr<Task>> EndTasks(Errands& errands);
  // Seconds to the deadline, as an assignment has them.
  double TimeLeft(const Question& question) const;
  void Unpin(Question& question);
  // Ends what is not answered yet of one participant, whose session is at work.
  std::unique_ptr<Task> EndTask(Slot& slot, const std::string& reason, Errands& errands);

  // What has come over the cut goes to its server, on the asker's thread and without the lock. False if there was nothing to
  // do.
  StatusOr<bool> ServeCut(Lock& lock);
  Status TakeCrossing(Lock& lock, std::size_t place, Errands& errands);
  // When nobody else is to be waited for at this crossing: everybody gets a reply, or is too late.
  bool MayClose(TimePoint now) const;
  Status CloseCrossing(Lock& lock, Errands& errands);
  void GiveReply(Slot& slot, int crossing, Errands& errands);
  // Its part in the question is over before an update has come of it.
  void Dismiss(Slot& slot, Outcome outcome, const std::string& reason, Errands& errands);
  std::size_t SamplesOver(const Slot& slot, int crossing) const;
  std::size_t BytesUp(const Slot& slot, int crossing) const;
  // Of one that has been over the cut at every step, where only the server knows it.
  double LossOf(const Slot& slot) const;

  // Of devices that meet each other: whom one meets, and what has to be known of them.
  MeetingPlan PlanOfMeeting(const Slot& slot) const;
  bool NeedsWeights(const Session& session) const;
  std::size_t ModelBytes() const { return (parameters_.size() + statistics_.size()) * sizeof(float); }
  // This session has been given its part: it is told who will not come, and what others want of it.
  void BeginMeeting(Slot& slot, Session& session, Errands& errands);
  // Tells those who wait for one that will not come. False if there was nothing to tell.
  bool TellAbsent(Lock& lock);
  // Whether it is there, or may be back in a moment.
  bool IsAwaited(const Slot& slot, TimePoint now) const;
  bool WillNotCome(const Slot& slot, TimePoint now, std::size_t awaited) const;
  void MarkAbsent(Slot& slot, Errands& errands);
  // Whether one that has answered is to do it again: it was cut off since, what it offered may have gone with its process, and
  // a neighbour that has not answered may not have had it.
  bool NeededAgain(const Slot& slot) const;
  // It has. That it has answered counted before; what its model is now, and what that took, is told anew.
  void AnswerAgain(Session& session, Slot& slot, const Answer& answer, Errands& errands);
  // Whether this participant can be asked for its model now.
  Session* Offering(const Slot& slot) const;
  // Passes on what others want of this participant, and was not passed on yet.
  void ForwardRelays(const Slot& slot, Errands& errands);
  // What was passed on to this session comes from nowhere any more.
  void RecallRelays(const Session& session);
  Status CheckMet(const Slot& slot, const Answer& answer) const;
  void ReportMeeting(Session& session, Slot& slot, const Answer& answer);

  const ExchangeOptions options_;
  const Clock& clock_;
  const PieceGrid parameters_, statistics_, moments_;
  const double macs_per_sample_;
  PlanBook plans_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  Members members_;
  std::vector<std::shared_ptr<Session>> sessions_;
  std::vector<Session*> session_of_;  // per member; null while it is gone
  std::unique_ptr<Question> question_;
  std::uint64_t tickets_ = 0;
  bool over_ = false;
};

}  // namespace tributary::remote
