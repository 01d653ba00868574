#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/file.h"
#include "tributary/base/flat_buffer.h"
#include "tributary/base/mutex.h"
#include "tributary/base/status.h"
#include "tributary/fleet/assignment.h"
#include "tributary/fleet/messages.h"

namespace tributary::inline protocol {

// A model being received from another device: parameters, then statistics. Only `came` is thread-safe.
class IncomingModel {
 public:
  IncomingModel(std::size_t parameters, std::size_t statistics)
      : parameters_(parameters), statistics_(statistics) {}

  std::size_t bytes() const { return (parameters_.size() + statistics_.size()) * sizeof(float); }
  std::size_t filled() const { return filled_; }
  bool complete() const { return filled_ == bytes(); }

  // Appends bytes. If their version differs from that of earlier bytes, drops everything including these and
  // returns false. Fails if there are more bytes than missing ones.
  StatusOr<bool> Append(std::uint64_t version, ByteSpan values);
  void Clear();

  // Total bytes received, including dropped ones.
  std::int64_t came() const { return came_; }
  // After completion. The values are not checked.
  SharedWeights model() const { return {parameters_.span(), statistics_.span()}; }

 private:
  FlatBuffer parameters_, statistics_;
  std::size_t filled_ = 0;
  std::optional<std::uint64_t> version_;
  std::atomic<std::int64_t> came_ = 0;
};

// Receives all of a neighbour's model, or fails with a reason; blocks. Ends soon after `stop` is requested.
using FetchModel =
    std::function<Status(const MeetingPeer& peer, IncomingModel& model, const std::stop_token& stop)>;

struct PeerMeetingOptions {
  std::vector<MeetingPeer> peers;
  std::size_t parameters = 0, statistics = 0;  // of a model
  FetchModel direct;                           // for neighbours with an address
  FetchModel relay;                            // for all, if direct fails or is not possible
  // A direct fetch that has begun and then receives nothing for this long is ended.
  Duration stall = std::chrono::seconds(20);
  std::function<void(const std::string&)> say = [](const std::string&) {};  // for people
};

// One meeting of a device with its neighbours. Fetches their models a few at a time, starting in the
// constructor, while the device still trains. Uses the memory of kMostFetches models.
class PeerMeeting {
 public:
  // The clock must outlive it.
  PeerMeeting(PeerMeetingOptions options, const Clock& clock);
  // Cancels unfinished fetches.
  ~PeerMeeting();

  // Stops waiting for this neighbour; its model counts if it has arrived. Thread-safe.
  void Skip(DeviceId device);

  // Passes every model to `take` on the caller's thread, in the order of arrival; a neighbour whose model
  // `take` refuses is not met. Returns the met neighbours in ascending order when no more will come.
  // Cancelled when `over`, polled several times a second and after LookAgain, returns true.
  using Take = std::function<Status(const MeetingPeer& peer, const SharedWeights& model)>;
  StatusOr<std::vector<Met>> Collect(const Take& take, const std::function<bool()>& over);
  // The result of `over` may have changed. Thread-safe.
  void LookAgain();

 private:
  enum class State { kWaiting, kDirect, kRelay, kCame, kMet, kMissed };
  struct Entry {
    MeetingPeer peer;
    State state = State::kWaiting;
    bool skipped = false;
    std::stop_source way;  // stops the current fetch
    std::shared_ptr<IncomingModel> model;
    std::int64_t direct_bytes = 0;
    // To detect stalls:
    std::int64_t seen = 0;
    TimePoint seen_at{0};
  };
  void Run();
  Entry* NextWaiting() TRIBUTARY_REQUIRES(mutex_);
  // Releases the lock temporarily.
  void Fetch(Entry& entry) TRIBUTARY_REQUIRES(mutex_);
  void StopStuck() TRIBUTARY_REQUIRES(mutex_);

  const PeerMeetingOptions options_;
  const Clock& clock_;
  Mutex mutex_;
  Condition changed_;
  std::vector<Entry> entries_ TRIBUTARY_GUARDED_BY(mutex_);
  bool closing_ TRIBUTARY_GUARDED_BY(mutex_) = false;
  std::uint64_t looks_ TRIBUTARY_GUARDED_BY(mutex_) = 0;  // counts LookAgain calls

  std::vector<std::thread> threads_;  // last, because they use the other members
};

}  // namespace tributary::inline protocol
