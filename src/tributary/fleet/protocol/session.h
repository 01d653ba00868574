#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tributary/fleet/protocol/connection.h"
#include "tributary/fleet/protocol/task.h"

namespace tributary::inline protocol {

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

inline Status WrongOrder(const std::string& what) {
  return InvalidArgument(what + ", which is against the protocol");
}

// Whether the session may answer this: it has that task, and all weights.
Status CheckWorking(const Session& session, std::uint64_t ticket);
// Whether the session may relay this; it owes one less then.
Status CheckOwed(Session& session, ByteSpan values);

}  // namespace tributary::inline protocol
