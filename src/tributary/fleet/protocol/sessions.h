#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tributary/experiment/quantity.h"
#include "tributary/fleet/protocol/deferred_calls.h"
#include "tributary/fleet/protocol/exchange_options.h"
#include "tributary/fleet/protocol/members.h"
#include "tributary/fleet/protocol/session.h"

namespace tributary::inline protocol {

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
