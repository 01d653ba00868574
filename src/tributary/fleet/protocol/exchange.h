#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/file.h"
#include "tributary/base/mutex.h"
#include "tributary/base/status.h"
#include "tributary/experiment/quantity.h"
#include "tributary/fleet/profile.h"
#include "tributary/fleet/protocol/round_protocol.h"
#include "tributary/fleet/protocol/sessions.h"

namespace tributary::inline protocol {

// What an operator can ask of a run that is under way.
struct OperatorRequest {
  enum class Kind {
    kDrop,    // remove a device that does not come back; if it does, it joins again
    kBan,     // remove it, and refuse it until it is admitted
    kAdmit,   // let it join again
    kQuorum,  // from now on so many answers are enough for a round, and needed
  };
  Kind kind = Kind::kDrop;
  std::string device;  // by name; of the first three
  std::size_t quorum = 0;
};
inline constexpr std::string_view kOperatorVerbs[] = {"drop", "ban", "admit", "quorum"};
constexpr std::string_view NameOf(OperatorRequest::Kind kind) {
  return kOperatorVerbs[static_cast<std::size_t>(kind)];
}

// Where the coordinator and its devices meet: connections come and go, messages arrive in any order and from anybody,
// and one order at a time is given to some of the devices. All rules of the protocol are kept here; it knows nothing of
// sockets, and nothing of what updates are for.
//
// A device's answer goes to the sink piece by piece as it arrives; memory does not grow with the number of devices. An
// answer that is not completed, because the device vanished, broke the rules or was too late, is taken back exactly.
// A device that comes back while its order is open is asked again, and since its work is a function of the assignment and
// its data it answers the same.
//
// This class has the lock and the waiting. Sessions and RoundProtocol, which it calls with the lock held, keep the rules;
// where sums, journals and the cut's server are at work, RoundProtocol gives the lock up.
//
// Dispatch, NextEvent and Close are for one thread at a time; everything else may be called from any thread.
class Exchange {
 public:
  using Session = protocol::Session;  // one connection

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
  // An entry of the audit log about somebody who has no session.
  void Record(std::string_view event, const AuditFields& fields) const { options_.audit(event, fields); }
  // To be called now and then: closes what is only half open, does not read, or is admitted no longer.
  void Tick();

  // The fleet:

  // Those that belonged to the run before, in their order.
  void Restore(std::span<const FleetMember> known);
  // A checkpoint has remembered these, which were taken from members().
  void MarkDurable(std::span<const FleetMember> saved);
  std::vector<Member> members() const;
  // Samples that devices have shared in the last round.
  std::size_t Shared() const;
  std::optional<PlanBook::State> PlanOf(DeviceId device) const { return plans_.Look(device.value); }
  const Clock& clock() const { return clock_; }

  // An operator asks; the caller has seen to it that it is one. Takes effect in the round that is open. NotFound for a
  // device that never came.
  Status Operate(const OperatorRequest& request);
  // What was asked for last by kQuorum.
  std::optional<std::size_t> quorum() const;

  // Of these waits, `stop` is a flag without notification: if given, it is polled several times a second.

  // Waits until `least` devices with samples are there, or until `stop` says so (then Cancelled).
  Status AwaitPresent(std::size_t least, const std::function<bool()>& stop);
  // Waits until this portion of all devices that ever came is there, and for each of the others until it has been gone for
  // longer than the grace period; or until `stop` says so (then Cancelled).
  Status AwaitQuorum(const Portion& quorum, const std::function<bool()>& stop);
  // Waits until all connections are over, but not for longer than this.
  void AwaitClosed(Duration most);

  // The order that is open, as Fleet has it. `sink` takes the updates of training, each weighing no more than the samples
  // that `devices`, indexed by number, were thought to have by the caller, whatever they have said since; and the models
  // that are collected. `devices` must live until Close.
  void Dispatch(WorkOrder order, std::span<const DeviceProfile> devices, UpdateSink* sink)
      TRIBUTARY_EXCLUDES(mutex_);
  // Only answers that were taken are completed. Cancelled once `stop` says so.
  StatusOr<FleetEvent> NextEvent(std::optional<TimePoint> timer, const std::function<bool()>& stop)
      TRIBUTARY_EXCLUDES(mutex_);
  // Then the sink holds exactly the answers that were complete. With a Status it holds no sum that could be used: an
  // update could not be taken back, or the cut's server failed.
  StatusOr<RoundReport> Close() TRIBUTARY_EXCLUDES(mutex_);
  // The answers of this round are in the model.
  void Commit(RoundId round);

  // Tells everybody that it is over, or (not `finished`) that the coordinator goes away; no more are let in.
  void SayFarewell(bool finished);
  std::size_t sessions() const;

 private:
  Status Handle(Session& session, const Greeting& greeting, ByteSpan values) TRIBUTARY_EXCLUDES(mutex_);
  Status Handle(Session& session, const Ping& ping, ByteSpan values) TRIBUTARY_EXCLUDES(mutex_);
  Status Handle(Session& session, const Ready& ready, ByteSpan values) TRIBUTARY_EXCLUDES(mutex_);
  Status Handle(Session& session, const Answer& answer, ByteSpan values) TRIBUTARY_EXCLUDES(mutex_);
  Status Handle(Session& session, const Failure& failure, ByteSpan values) TRIBUTARY_EXCLUDES(mutex_);
  template <typename Message>  // Piece, Samples or Crossing
  Status Handle(Session& session, const Message& message, ByteSpan values) TRIBUTARY_EXCLUDES(mutex_);
  Status Handle(Session& session, const Relay& relay, ByteSpan values) TRIBUTARY_EXCLUDES(mutex_);
  Status Handle(Session& session, const Relayed& relayed, ByteSpan values) TRIBUTARY_EXCLUDES(mutex_);

  // Whether a message of a task is to be ignored, because the task or the session ended before the device could know.
  bool IsIgnored(Session& session, std::uint64_t ticket, std::size_t bytes, bool last)
      TRIBUTARY_REQUIRES(mutex_);
  // The session counts no more, and what it was doing is taken back. The lock is given up in between.
  void Leave(Session& session, DeferredCalls& calls) TRIBUTARY_REQUIRES(mutex_);

  // On the caller's thread: whether there was something to do. If so, the lock was given up in between.
  bool Serve() TRIBUTARY_REQUIRES(mutex_);
  // Waits for a change, at most until then; only for a moment if there is a flag to look at.
  void Wait(MutexLock& lock, std::optional<TimePoint> until, bool has_flag) TRIBUTARY_REQUIRES(mutex_);

  const ExchangeOptions options_;
  const Clock& clock_;
  const ModelPieces pieces_;
  PlanBook plans_;

  mutable Mutex mutex_;
  Condition changed_;
  RoundContext context_ TRIBUTARY_GUARDED_BY(mutex_);
  Sessions sessions_ TRIBUTARY_GUARDED_BY(mutex_);
  std::unique_ptr<RoundProtocol> round_ TRIBUTARY_GUARDED_BY(mutex_) TRIBUTARY_POINTED_TO_GUARDED_BY(mutex_);
};

}  // namespace tributary::inline protocol
