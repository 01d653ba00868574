#include "tributary/fleet/protocol/relay_desk.h"

#include <algorithm>

namespace tributary::inline protocol {

Status RelayDesk::Fetch(const MeetingPeer& peer, IncomingModel& model, const std::stop_token& stop) {
  constexpr int kMostAnew =
      2;  // More, and the coordinator takes it for a device that wants it again and again.
  const std::stop_callback wake(stop, [this] {
    const MutexLock lock(mutex_);  // Those that have looked, wait by now.
    changed_.NotifyAll();
  });
  int anew = 0;
  model.Clear();
  while (!model.complete()) {
    const std::size_t bytes = std::min(kMostRelayBytes, model.bytes() - model.filled());
    {
      const MutexLock lock(mutex_);
      waits_[peer.device] = {model.filled(), bytes, std::nullopt, {}};
    }
    TRIBUTARY_RETURN_IF_ERROR(send_({meeting_, peer.device, model.filled(), bytes}));
    MutexLock lock(mutex_);
    Wait& wait = waits_[peer.device];
    while (!wait.version && !stop.stop_requested()) changed_.Wait(lock);
    if (!wait.version) {
      waits_.erase(peer.device);
      return Cancelled("it is not waited for any longer");
    }
    const Wait came = std::move(wait);
    waits_.erase(peer.device);
    lock.Unlock();
    // If the neighbour has made another since, it is fetched from the beginning.
    TRIBUTARY_ASSIGN_OR_RETURN(const bool same, model.Append(*came.version, came.values));
    if (!same && ++anew > kMostAnew) return Corrupt("its model is another whenever it is asked for");
  }
  return OkStatus();
}

void RelayDesk::Came(const Relayed& relayed, ByteSpan values) {
  const MutexLock lock(mutex_);
  if (relayed.meeting != meeting_) return;
  const auto wait = waits_.find(relayed.device);
  if (wait == waits_.end() || wait->second.version || wait->second.offset != relayed.offset ||
      wait->second.bytes != values.size()) {
    return;
  }
  wait->second.version = relayed.version;
  wait->second.values.assign(values.begin(), values.end());
  changed_.NotifyAll();
}

}  // namespace tributary::inline protocol
