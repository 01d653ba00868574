#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/mutex.h"
#include "tributary/base/status.h"
#include "tributary/data/record.h"
#include "tributary/experiment/quantity.h"
#include "tributary/fleet/messages.h"
#include "tributary/fleet/protocol/audit_log.h"
#include "tributary/fleet/protocol/members.h"
#include "tributary/fleet/protocol/task.h"
#include "tributary/fleet/split_wire.h"
#include "tributary/fleet/step_plan.h"
#include "tributary/model/model.h"
#include "tributary/policy/compression/codecs.h"

namespace tributary::inline protocol {

struct ExchangeOptions {
  std::shared_ptr<const Model> model;
  // How weights and updates are cut on their way.
  TransferOptions transfers;
  CompressionKind codec;  // of updates that may come as encoded blocks; null where none may
  // From how many parts of the network a device chooses what it trains; 0 where it has no choice.
  std::size_t menu = 0;
  std::optional<SampleFormat> shared;  // of samples that travel; none where none may
  // What goes over the cut of a network that has one; `model` is what devices have.
  std::optional<SplitWire> cut;
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
  // After how many times its expected time, and after a minute at least, a device at work from which nothing comes and which
  // takes nothing counts as gone; 0: never. A device is expected to be at worst `largest_share` times slower than the
  // median of the participants, whatever it says (0: as slow as it says).
  double patience = 0;
  double largest_share = 0;
  // The share of its samples that the experiment has a device hold out; without it any number is believed.
  std::optional<double> hold_out;
  // Told of who joins, leaves and is refused.
  Audit audit = [](std::string_view, const AuditFields&) {};
  // Random for each process of a coordinator: makes the names of gossip rounds unique across restarts.
  std::uint64_t incarnation = 0;
};

// The coordinator's end of a device's connection, as seen by the Exchange, whatever carries the bytes. Called from any
// thread, never while the Exchange holds its lock.
class Connection {
 public:
  virtual ~Connection() = default;
  // There is something to send: ask Exchange::Next soon.
  virtual void Wake() = 0;
  // Ends it, with a reason that the peer is told (none if it is OK). The carrier answers with Exchange::Closed once it
  // is over, as it does when a connection breaks by itself.
  virtual void Close(const Status& reason) = 0;
  // Whether the peer may still be here; its certificate may have been revoked since it came.
  virtual Status StillAdmitted() const { return OkStatus(); }
  // The serial number of the certificate that the peer has shown; empty without TLS.
  virtual std::string certificate() const { return {}; }
};

// What waits until the exchange's lock is free: calls to connections, which may call back, and waking those that wait
// for a change. To be made before the lock is taken, so that it goes after the lock.
class DeferredCalls {
 public:
  explicit DeferredCalls(Condition& changed) : changed_(changed) {}
  ~DeferredCalls() { Run(); }
  DeferredCalls(const DeferredCalls&) = delete;
  DeferredCalls& operator=(const DeferredCalls&) = delete;

  void Wake(const std::shared_ptr<Connection>& connection) { wake_.push_back(connection); }
  void Close(const std::shared_ptr<Connection>& connection, Status reason) {
    close_.emplace_back(connection, std::move(reason));
  }
  void Notify() { notify_ = true; }
  bool empty() const { return !notify_ && wake_.empty() && close_.empty(); }

  // Makes them now; without the lock.
  void Run() {
    if (std::exchange(notify_, false)) changed_.NotifyAll();
    for (const auto& connection : std::exchange(wake_, {})) connection->Wake();
    for (const auto& [connection, reason] : std::exchange(close_, {})) connection->Close(reason);
  }

 private:
  Condition& changed_;
  bool notify_ = false;
  std::vector<std::shared_ptr<Connection>> wake_;
  std::vector<std::pair<std::shared_ptr<Connection>, Status>> close_;
};

// How many messages that carry no work a device may send at once.
inline constexpr double kMostAtOnce = 200;

// A device's connection, from Exchange::Open to Exchange::Closed. Only with the exchange's lock, but for what never
// changes after it was opened.
struct Session {
  std::shared_ptr<Connection> connection;
  std::optional<std::string> identity;  // whom its certificate names
  std::string address;
  std::string certificate;
  TimePoint opened{0};

  std::optional<std::size_t> member;  // once it has greeted
  bool ready = false;
  std::int64_t held_out = 0;  // samples, as it said
  bool left = false;          // it does not count any more; only its carrier still knows it
  TimePoint left_at{0};

  std::deque<OutgoingMessage> outbox;
  std::optional<TimePoint> pending;  // since when there is something that the carrier has not taken
  double tokens = kMostAtOnce;       // messages that it may send now
  TimePoint refilled{0};
  std::size_t probed = 0;  // bytes, to measure its link

  std::unique_ptr<Task> task;  // its part in the round under way
  bool busy = false;           // a piece of it is being stored, outside the lock
  struct Late {
    std::uint64_t ticket;
    std::int64_t allowance;  // bytes that may still come
  };
  std::deque<Late> late;  // tasks that were ended before they were answered, in their order

  struct Gossip {
    std::vector<RoundId> models;  // of the device, that it has
    std::size_t owed = 0;         // Relayed, of models that others want of it
  };
  Gossip gossip;
};

// Whether the session may answer this: it has that task, and all weights.
Status CheckWorking(const Session& session, std::uint64_t ticket);
// Whether the session may relay this; it owes one less then.
Status CheckOwed(Session& session, ByteSpan values);

// The connections of a coordinator and the devices at their other ends: who comes, at which pace a device may speak,
// what waits to be sent, who does not greet, read or go. It knows nothing of rounds.
//
// Not for several threads at once: the exchange calls it with its lock held.
class Sessions {
 public:
  // Both must outlive it.
  Sessions(const ExchangeOptions& options, const Clock& clock) : options_(options), clock_(clock) {}

  StatusOr<std::shared_ptr<Session>> Open(std::shared_ptr<Connection> connection,
                                          std::optional<std::string> identity, std::string address);
  const std::vector<std::shared_ptr<Session>>& all() const { return sessions_; }
  // Its connection is over.
  void Remove(const Session& session);

  // Joining, in this order: a greeting names a member, which the session then becomes; it measures its link; it is ready.
  StatusOr<std::size_t> Identify(const Session& session, const Greeting& greeting);
  void Admit(Session& session, std::size_t member, const Greeting& greeting, DeferredCalls& calls);
  Status Handle(Session& session, const Ping& ping, ByteSpan values, DeferredCalls& calls);
  Status Handle(Session& session, const Ready& ready);
  // The session counts no more. Its task, if any, is still to be ended. False if that was so already.
  bool Leave(Session& session, DeferredCalls& calls);

  // An entry of the audit log about this connection.
  void Record(std::string_view event, const Session& session, const Status& reason = {}) const;

  // One more message that carries no work.
  Status Pace(Session& session);
  void Send(Session& session, OutgoingMessage message, DeferredCalls& calls);
  // There is something to send that is not in the outbox.
  void Wake(Session& session, DeferredCalls& calls);
  // Whether this message belongs to a task that ended before the device could know; `last` if none follows it.
  bool IsLate(Session& session, std::uint64_t ticket, std::size_t bytes, bool last) const;
  // The session's task has ended: this many bytes of its answer may still arrive.
  void ExpectLate(Session& session, std::uint64_t ticket, std::size_t bytes) const;
  // Closes the connection if it is only half open, does not read or does not go, or is not `admitted` any longer.
  void Inspect(const Session& session, Status admitted, DeferredCalls& calls);
  // Tells everybody that it is over; no more are let in.
  void SayFarewell(bool finished, DeferredCalls& calls);

  Members& members() { return members_; }
  const Members& members() const { return members_; }
  void Restore(std::span<const FleetMember> known);
  void SetDoing(const Session& session, Doing doing) { members_.Set(*session.member, doing, clock_.Now()); }
  // The session of a member; null while it is gone.
  Session* Of(std::size_t member) const {
    return member < session_of_.size() ? session_of_[member] : nullptr;
  }
  // How many members with samples can be asked.
  std::size_t Present() const;
  // What an operator asks for instead of the experiment's quorum; if anything.
  std::optional<std::size_t> quorum;
  // Whether this portion of all members with samples can be asked, and none of the others may be back in a moment.
  bool HasQuorum(const Portion& quorum) const;

 private:
  bool IsPresent(std::size_t member) const;

  const ExchangeOptions& options_;
  const Clock& clock_;
  Members members_;
  std::vector<std::shared_ptr<Session>> sessions_;
  std::vector<Session*> session_of_;  // per member
  bool over_ = false;
};

// The name of a device that greets: of its certificate if it has one. Refuses another protocol and names that cannot be.
StatusOr<std::string> NameOfDevice(const Session& session, const Greeting& greeting,
                                   const std::string& build);

}  // namespace tributary::inline protocol
