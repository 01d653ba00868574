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
  TransferOptions transfers;           // how weights and updates are divided into segments
  CompressionKind codec;               // of updates that may arrive as encoded blocks; null if none may
  std::size_t menu = 0;                // number of sub-networks to choose from; 0 if there is no choice
  std::optional<SampleFormat> shared;  // of shared samples; empty if none are
  std::optional<SplitWire> cut;  // what crosses the split point, if any; `model` is then the client part
  // Sent to every device on joining, with its number. Both sides use `layout` and `piece_floats`.
  Welcome welcome;
  // How long to wait for a device that has gone, if the round could end without it. Longer values tolerate
  // longer network failures; shorter values end rounds sooner.
  Duration grace = std::chrono::seconds(10);
  Duration greeting_time = std::chrono::seconds(10);  // until the greeting on a new connection
  // Maximum time in which a peer reads nothing of what waits to be sent. Longer values tolerate slower links.
  Duration stall_time = std::chrono::minutes(2);
  std::size_t most_sessions = 10'000;
  std::int64_t most_samples = 100'000'000;  // that a device may report
  // A working device counts as gone if nothing moves in either direction for this multiple of its expected time, and for a
  // minute at least; 0: never. The expected time assumes at worst the median speed of the participants divided by
  // `largest_share`, whatever the device reports (0: what it reports).
  double patience = 0;
  double largest_share = 0;
  std::optional<double>
      hold_out;  // the experiment's share of held-out samples; without it any number is believed
  Audit audit = [](std::string_view, const AuditFields&) {};  // receives joins, departures and refusals
  std::uint64_t incarnation = 0;  // random per process; makes gossip ids unique across restarts
};

// A device's connection, independent of the transport. Called from any thread, without Exchange's lock.
class Connection {
 public:
  virtual ~Connection() = default;
  // There is something to send: call Exchange::Next soon.
  virtual void Wake() = 0;
  // Ends the connection; tells the peer the reason unless OK. Exchange::Closed follows, as when it breaks.
  virtual void Close(const Status& reason) = 0;
  // Whether the peer is still admitted; its certificate may have been revoked.
  virtual Status StillAdmitted() const { return OkStatus(); }
  // Serial number of the peer's certificate; empty without TLS.
  virtual std::string certificate() const { return {}; }
};

// Calls to connections, which may call back, and notifications, that must wait until the exchange's lock is
// released. Construct it before taking the lock, so that its destructor runs after the release.
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

  // Makes the calls now; without the lock.
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

inline constexpr double kMostAtOnce = 200;  // burst of messages without work that a device may send

// A device's connection, from Exchange::Open to Closed. Requires the exchange's lock, except for constants.
struct Session {
  std::shared_ptr<Connection> connection;
  std::optional<std::string> identity;  // name in its certificate
  std::string address;
  std::string certificate;
  TimePoint opened{0};

  std::optional<std::size_t> member;  // after the greeting
  bool ready = false;
  std::int64_t held_out = 0;  // as reported by the device
  bool left = false;          // ended; only its carrier still refers to it
  TimePoint left_at{0};

  std::deque<OutgoingMessage> outbox;
  std::optional<TimePoint> pending;  // since when the carrier has not taken what waits to be sent
  double tokens = kMostAtOnce;       // messages that it may send now
  TimePoint refilled{0};
  std::size_t probed = 0;  // bytes of link measurement

  std::unique_ptr<Task> task;  // in the current round
  bool busy = false;           // a piece is being stored, without the lock
  struct Late {
    std::uint64_t ticket;
    std::int64_t allowance;  // bytes that may still arrive
  };
  std::deque<Late> late;  // tasks that ended before their answer, in their order

  struct Gossip {
    std::vector<RoundId> models;  // that the device has saved
    std::size_t owed = 0;         // number of Relayed messages that other devices wait for
  };
  Gossip gossip;
};

// Checks that the session has this task and all its weights.
Status CheckWorking(const Session& session, std::uint64_t ticket);
// Checks that a relayed message was requested, and counts it.
Status CheckOwed(Session& session, ByteSpan values);

// The coordinator's connections and the devices at their other ends: admission, rate limits, outgoing
// messages, and peers that do not greet, read or leave. Independent of rounds.
//
// Not thread-safe: Exchange calls it with its lock held.
class Sessions {
 public:
  // Both must outlive it.
  Sessions(const ExchangeOptions& options, const Clock& clock) : options_(options), clock_(clock) {}

  StatusOr<std::shared_ptr<Session>> Open(std::shared_ptr<Connection> connection,
                                          std::optional<std::string> identity, std::string address);
  const std::vector<std::shared_ptr<Session>>& all() const { return sessions_; }
  void Remove(const Session& session);

  // Refuses members that may not join.
  static Status CheckStanding(const Member& member);
  // Joining: Identify finds the member of a greeting, Admit binds the session to it; then Ping, then Ready.
  StatusOr<std::size_t> Identify(const Session& session, const Greeting& greeting);
  void Admit(Session& session, std::size_t member, const Greeting& greeting, DeferredCalls& calls);
  Status Handle(Session& session, const Ping& ping, ByteSpan values, DeferredCalls& calls);
  Status Handle(Session& session, const Ready& ready);
  // Ends the session; its task, if any, must then be ended. False if it had ended already.
  bool Leave(Session& session, DeferredCalls& calls);

  // Adds an entry to the audit log about this connection.
  void Record(std::string_view event, const Session& session, const Status& reason = {}) const;

  // Applies the rate limit to a message without work.
  Status Pace(Session& session);
  void Send(Session& session, OutgoingMessage message, DeferredCalls& calls);
  // There is something to send outside the outbox.
  void Wake(Session& session, DeferredCalls& calls);
  // Whether a message belongs to a task that ended before the device could know; `last` if no more follow.
  bool IsLate(Session& session, std::uint64_t ticket, std::size_t bytes, bool last) const;
  // The session's task has ended: this many bytes of its answer may still arrive.
  void ExpectLate(Session& session, std::uint64_t ticket, std::size_t bytes) const;
  // Closes the connection if it is half open, does not read or leave, or is no longer `admitted`.
  void Inspect(const Session& session, Status admitted, DeferredCalls& calls);
  // See Exchange.
  void SetRevocations(std::string lists, DeferredCalls& calls);
  // Sends a farewell to all devices and admits no more.
  void SayFarewell(bool finished, DeferredCalls& calls);
  Members& members() { return members_; }
  const Members& members() const { return members_; }
  void Restore(std::span<const FleetMember> known);
  void SetDoing(const Session& session, Doing doing) { members_.Set(*session.member, doing, clock_.Now()); }
  // The session of a member; null while it is gone.
  Session* Of(std::size_t member) const {
    return member < session_of_.size() ? session_of_[member] : nullptr;
  }
  // Number of present members with samples.
  std::size_t Present() const;
  // The quorum that an operator has set instead of the experiment's.
  std::optional<std::size_t> quorum;
  // Whether this portion of all members with samples is present, and no other member may return soon.
  bool HasQuorum(const Portion& quorum) const;

 private:
  bool IsPresent(std::size_t member) const;

  const ExchangeOptions& options_;
  const Clock& clock_;
  Members members_;
  std::vector<std::shared_ptr<Session>> sessions_;
  std::vector<Session*> session_of_;  // per member
  std::string revocations_;
  bool over_ = false;
};

}  // namespace tributary::inline protocol
