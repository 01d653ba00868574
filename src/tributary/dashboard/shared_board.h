#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "tributary/base/clock.h"
#include "tributary/base/mutex.h"
#include "tributary/dashboard/board.h"
#include "tributary/telemetry/sink.h"

namespace tributary::inline dashboard {

// A board that one thread writes while others read it. Readers only copy under the lock and format
// afterwards, so writing hardly ever waits.
class SharedBoard : public EventSink {
 public:
  void Describe(const RunMetadata& metadata) override;
  void Write(const Event& event) override;
  // Board::SetState for the first devices.
  void SetStates(const std::vector<std::string>& states);

  // A copy of the current board.
  Board Take() const;
  // Changes with every write.
  std::uint64_t version() const;
  // Returns when the version differs from `seen`, after `longest`, or after Close.
  void WaitForChange(std::uint64_t seen, Duration longest) const;

  // From now on, no call waits.
  void Close();
  bool closed() const;

 private:
  mutable Mutex mutex_;
  mutable Condition changed_;
  Board board_ TRIBUTARY_GUARDED_BY(mutex_);
  std::uint64_t version_ TRIBUTARY_GUARDED_BY(mutex_) = 0;
  bool closed_ TRIBUTARY_GUARDED_BY(mutex_) = false;
};

// The server-sent events for one page: the whole board first and after each thinning, then only changes, each
// part at its own rate. For one thread.
class EventStream {
 public:
  static constexpr Duration kNowEvery = std::chrono::milliseconds(250),
                            kDevicesEvery = std::chrono::seconds(1);

  // The text to send now; empty if no change is due. `version` is the board's.
  std::string Next(const Board& board, std::uint64_t version, TimePoint now);

 private:
  bool begun_ = false;
  std::uint64_t now_version_ = 0, devices_version_ = 0;
  TimePoint now_at_{0}, devices_at_{0};
  std::uint64_t rounds_ = 0, evaluations_ = 0, downsamplings_ = 0;
  std::size_t described_ = 0;
  std::string notes_;
};

// The events for all pages that follow a board, computed once for all of them. Thread-safe.
class Broadcast {
 public:
  static constexpr std::size_t kKept = 16;  // texts for clients that are behind

  // Both must outlive it.
  Broadcast(const SharedBoard& board, const Clock& clock) : board_(board), clock_(clock) {}

  // The text after number `heard`, which is set to the last number. 0, and a client too far behind, gets the
  // whole board. Empty if there is nothing new.
  std::string Next(std::uint64_t& heard);

 private:
  void LookAgain() TRIBUTARY_REQUIRES(mutex_);

  const SharedBoard& board_;
  const Clock& clock_;
  Mutex mutex_;
  EventStream stream_ TRIBUTARY_GUARDED_BY(mutex_);
  Board seen_ TRIBUTARY_GUARDED_BY(mutex_);         // when the last text was made
  std::string whole_ TRIBUTARY_GUARDED_BY(mutex_);  // of `seen_`, once needed
  std::deque<std::string> texts_ TRIBUTARY_GUARDED_BY(mutex_);
  std::uint64_t number_ TRIBUTARY_GUARDED_BY(mutex_) = 0;  // of the last text
  TimePoint looked_ TRIBUTARY_GUARDED_BY(mutex_){0};
};

}  // namespace tributary::inline dashboard
