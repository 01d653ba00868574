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

// A request of an operator to a running coordinator.
struct OperatorRequest {
  enum class Kind {
    kDrop,    // remove a device that does not come back; if it does, it joins again
    kBan,     // remove a device, and refuse it until it is admitted
    kAdmit,   // let a dropped, banned or quarantined device join again
    kQuorum,  // from now on a round needs this number of answers, and ends with it
  };
  Kind kind = Kind::kDrop;
  std::string device;  // by name; of the first three
  std::size_t quorum = 0;
};
inline constexpr std::string_view kOperatorVerbs[] = {"drop", "ban", "admit", "quorum"};
constexpr std::string_view NameOf(OperatorRequest::Kind kind) {
  return kOperatorVerbs[static_cast<std::size_t>(kind)];
}

// The coordinator's side of the protocol. Connections come and go, messages arrive in any order and from
// anyone, and one order at a time is given to some devices. Independent of sockets and of the use of updates.
//
// Answers go to the sink piece by piece as they arrive, so memory does not grow with the number of devices.
// An incomplete answer (the device vanished, broke the rules or was too late) is discarded exactly. A device
// that returns while its order is open is asked again and gives the same answer (assignment.h).
//
// This class has the lock and the waits. Sessions and RoundProtocol have the rules and are called with the
// lock held; RoundProtocol releases it during sums, journal access and the split server's computation.
//
// Dispatch, NextEvent and Close are for one thread at a time; all other functions are thread-safe.
class Exchange {
 public:
  using Session = protocol::Session;  // one connection

  Exchange(ExchangeOptions options, const Clock& clock);
  ~Exchange();

  // For carriers of connections:

  // Adds a connection. `identity`: the name in its certificate; without one the device may use any name.
  StatusOr<std::shared_ptr<Session>> Open(std::shared_ptr<Connection> connection,
                                          std::optional<std::string> identity, std::string address);
  // Handles a message; one at a time per session. A Status is the reason to close the connection: the session
  // has ended, and the device's work is refused.
  Status Receive(Session& session, const FromDevice& message, ByteSpan values);
  // As Receive, for bytes that are not a message. Returns the reason.
  Status Refuse(Session& session, Status reason);
  // Passes the next message, if any, to `send`; its values are valid only in that call. One call per session.
  bool Next(Session& session, const std::function<void(const ToDevice&, ByteSpan values)>& send);
  // The connection has ended. The last call for a session.
  void Closed(Session& session);
  // Adds an entry to the audit log about a peer without a session.
  void Record(std::string_view event, const AuditFields& fields) const { options_.audit(event, fields); }
  // To be called regularly: closes half-open, stalled and no longer admitted connections.
  void Tick();

  // For the fleet:

  // Members of the run so far, in their order.
  void Restore(std::span<const FleetMember> known);
  // A checkpoint has stored these members, which come from members().
  void MarkDurable(std::span<const FleetMember> saved);
  std::vector<Member> members() const;
  std::size_t Shared() const;
  std::optional<PlanBook::State> PlanOf(DeviceId device) const { return plans_.Look(device.value); }
  const Clock& clock() const { return clock_; }

  // Carries out the request of an operator, whose role the caller has checked. Takes effect in the open round. NotFound for
  // a device that never joined.
  Status Operate(const OperatorRequest& request);
  // The last quorum that an operator has set.
  std::optional<std::size_t> quorum() const;

  // These waits poll the `stop` flag, if given, several times a second, and return Cancelled if it is set.

  // Waits until `least` devices with samples are present.
  Status AwaitPresent(std::size_t least, const std::function<bool()>& stop);
  // Waits until this portion of all known devices is present and all others are gone beyond the grace period.
  Status AwaitQuorum(const Portion& quorum, const std::function<bool()>& stop);
  // Waits until all connections have ended, at most this long.
  void AwaitClosed(Duration most);

  // Opens the order, as Fleet::Dispatch. `sink` takes updates and collected models. An update weighs at most
  // the device's samples in `devices` (by number, valid until Close), whatever it has reported since.
  void Dispatch(WorkOrder order, std::span<const DeviceProfile> devices, UpdateSink* sink)
      TRIBUTARY_EXCLUDES(mutex_);
  // Only accepted answers are completed. Cancelled once `stop` returns true.
  StatusOr<FleetEvent> NextEvent(std::optional<TimePoint> timer, const std::function<bool()>& stop)
      TRIBUTARY_EXCLUDES(mutex_);
  // Afterwards the sink holds exactly the complete answers. With a Status it holds no usable sum: an update
  // could not be discarded, or the split server failed.
  StatusOr<RoundReport> Close() TRIBUTARY_EXCLUDES(mutex_);
  void Commit(RoundId round);
  // As Fleet::RollBack. Sessions of these devices end.
  void RollBack(std::span<const DeviceId> quarantined) TRIBUTARY_EXCLUDES(mutex_);

  // The revocation lists in force, which every device is sent before its welcome and when they change; empty for none.
  void SetRevocations(std::string lists);
  // Tells all devices that the run is over, or (not `finished`) that the coordinator stops; admits no more.
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

  // Whether to ignore a message of a task because the task or session ended before the device could know.
  bool IsIgnored(Session& session, std::uint64_t ticket, std::size_t bytes, bool last)
      TRIBUTARY_REQUIRES(mutex_);
  // Ends the session and discards its work. Releases the lock temporarily.
  void Leave(Session& session, DeferredCalls& calls) TRIBUTARY_REQUIRES(mutex_);

  // Works on the caller's thread. Returns whether there was work; the lock was then released temporarily.
  bool Serve() TRIBUTARY_REQUIRES(mutex_);
  // Waits for a change, at most until `until`; only briefly if a flag has to be polled.
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
