#pragma once

#include <deque>
#include <functional>
#include <thread>

#include "tributary/base/file.h"
#include "tributary/base/mutex.h"
#include "tributary/fleet/offer_book.h"

namespace tributary::inline protocol {

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
  Mutex mutex_;
  Condition changed_;
  std::deque<Relay> waiting_ TRIBUTARY_GUARDED_BY(mutex_);
  std::jthread thread_ TRIBUTARY_GUARDED_BY(mutex_);  // started with the first
};

}  // namespace tributary::inline protocol
