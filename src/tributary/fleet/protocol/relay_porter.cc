#include "tributary/fleet/protocol/relay_porter.h"

#include <vector>

namespace tributary::inline protocol {
namespace {

constexpr std::size_t kMostWaiting = 10'000;

}  // namespace

RelayPorter::~RelayPorter() {
  std::jthread thread;  // Ends without the lock.
  const MutexLock lock(mutex_);
  thread = std::move(thread_);
}

Status RelayPorter::Carry(const Relay& relay) {
  const MutexLock lock(mutex_);
  if (waiting_.size() >= kMostWaiting)
    return ResourceExhausted("the coordinator wants too much relayed at once");
  waiting_.push_back(relay);
  if (!thread_.joinable()) {
    thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
  }
  changed_.NotifyAll();
  return OkStatus();
}

void RelayPorter::Run(const std::stop_token& stop) {
  const std::stop_callback wake(stop, [this] {
    const MutexLock lock(mutex_);  // Those that have looked, wait by now.
    changed_.NotifyAll();
  });
  std::vector<std::byte> values;
  for (;;) {
    Relay relay;
    {
      MutexLock lock(mutex_);
      while (waiting_.empty() && !stop.stop_requested()) changed_.Wait(lock);
      if (waiting_.empty()) return;
      relay = waiting_.front();
      waiting_.pop_front();
    }
    (void)book_.Await(relay.meeting, stop);
    if (stop.stop_requested()) return;
    values.resize(relay.bytes);
    const auto version = book_.Read(relay.meeting, relay.offset, values);
    // One that it does not have, or not any more, is told as well.
    const Relayed relayed{relay.meeting, relay.device, relay.offset, version.value_or(0)};
    if (!send_(relayed, version ? ByteSpan(values) : ByteSpan()).ok()) return;  // So the connection is over.
  }
}

}  // namespace tributary::inline protocol
