#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "tributary/base/mutex.h"
#include "tributary/fleet/protocol/connection.h"

namespace tributary::inline protocol {

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

}  // namespace tributary::inline protocol
