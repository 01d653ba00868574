#include "tributary/fleet/remote/relay_porter.h"

#include <vector>

namespace tributary::remote {
namespace {

constexpr std::size_t kMostWaiting = 10'000;

}  // namespace

RelayPorter::~RelayPorter() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

Status RelayPorter::Carry(const Relay& relay) {
  const std::lock_guard lock(mutex_);
  if (waiting_.size() >= kMostWaiting)
    return ResourceExhausted("the coordinator wants too much relayed at once");
  waiting_.push_back(relay);
  if (!thread_.joinable()) {
    thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
  }
  changed_.notify_all();
  return OkStatus();
}

void RelayPorter::Run(const std::stop_token& stop) {
  std::vector<std::byte> values;
  for (;;) {
    Relay relay;
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [&] { return !waiting_.empty(); })) return;
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

}  // namespace tributary::remote
