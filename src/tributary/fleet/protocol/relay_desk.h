#pragma once

#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <vector>

#include "tributary/base/mutex.h"
#include "tributary/fleet/messages.h"
#include "tributary/fleet/protocol/incoming_model.h"

namespace tributary::inline protocol {

// Fetches the models of neighbours that cannot be reached, by way of the coordinator, a run of bytes at a time. For one
// meeting; from any thread.
class RelayDesk {
 public:
  // `send` may block; a failure ends the fetch.
  using Send = std::function<Status(const Relay&)>;
  RelayDesk(std::uint64_t meeting, Send send) : meeting_(meeting), send_(std::move(send)) {}

  // Waits until all of it has come, or `stop` is asked for (then Cancelled). Corrupt if it changes on the way, more than a
  // restarted neighbour explains.
  Status Fetch(const MeetingPeer& peer, IncomingModel& model, const std::stop_token& stop);
  // Bytes have come. Bytes that were not requested are dropped.
  void Came(const Relayed& relayed, ByteSpan values);

 private:
  struct Wait {
    std::size_t offset = 0, bytes = 0;
    std::optional<std::uint64_t> version;  // of what has come
    std::vector<std::byte> values;
  };

  const std::uint64_t meeting_;
  const Send send_;
  Mutex mutex_;
  Condition changed_;
  std::map<DeviceId, Wait> waits_ TRIBUTARY_GUARDED_BY(mutex_);
};

}  // namespace tributary::inline protocol
