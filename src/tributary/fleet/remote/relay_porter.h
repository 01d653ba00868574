#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "tributary/base/file.h"
#include "tributary/fleet/remote/offer_book.h"

namespace tributary::remote {

// Carries what this device offers to the coordinator, for neighbours that cannot reach it: on a thread of its own, since
// the model may still be in the making, and the link slow.
class RelayPorter {
 public:
  // Blocks until it has left.
  using Send = std::function<Status(const Relayed&, ByteSpan values)>;
  // The book must outlive it.
  RelayPorter(const OfferBook& book, Send send) : book_(book), send_(std::move(send)) {}
  ~RelayPorter();
  RelayPorter(const RelayPorter&) = delete;
  RelayPorter& operator=(const RelayPorter&) = delete;

  // To be carried when it is there, after those before. ResourceExhausted where far more wait than neighbours may ask for.
  Status Carry(const Relay& relay);

 private:
  void Run(const std::stop_token& stop);

  const OfferBook& book_;
  const Send send_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Relay> waiting_;  // guarded by mutex_
  std::jthread thread_;        // started with the first; guarded by mutex_
};

}  // namespace tributary::remote
