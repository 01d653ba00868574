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

// A model on its way from another device: its parameters, then its statistics, as bytes one after the other. For one thread
// at a time, but for `came`.
class IncomingModel {
 public:
  IncomingModel(std::size_t parameters, std::size_t statistics)
      : parameters_(parameters), statistics_(statistics) {}

  std::size_t bytes() const { return (parameters_.size() + statistics_.size()) * sizeof(float); }
  std::size_t filled() const { return filled_; }
  bool complete() const { return filled_ == bytes(); }

  // The next bytes of it. Where they are of another version than those before, the model starts over, and false is returned
  // unless these are its first. Refused: more than there are to come.
  StatusOr<bool> Append(std::uint64_t version, ByteSpan values);
  // From the beginning again.
  void Clear();

  // Bytes in all, also those that were for nothing.
  std::int64_t came() const { return came_; }
  // When it is complete. Its numbers may be anything.
  SharedWeights model() const { return {parameters_.span(), statistics_.span()}; }

 private:
  FlatBuffer parameters_, statistics_;
  std::size_t filled_ = 0;
  std::optional<std::uint64_t> version_;
  std::atomic<std::int64_t> came_ = 0;
};

// Brings all of a neighbour's model, or says why that is not possible; blocks. Ends soon after `stop` is asked for.
using FetchModel =
    std::function<Status(const MeetingPeer& peer, IncomingModel& model, const std::stop_token& stop)>;

struct PeerMeetingOptions {
  std::vector<MeetingPeer> peers;
  std::size_t parameters = 0, statistics = 0;  // of a model
  FetchModel direct;                           // from a neighbour with an address
  FetchModel relay;                            // from any, where it cannot be had directly
  // A neighbour that has begun to send and then sends nothing for so long is not asked directly any more.
  Duration stall = std::chrono::seconds(20);
  std::function<void(const std::string&)> say = [](const std::string&) {};  // for people
};

// One meeting of a device with its neighbours: fetches their models, a few at a time, from the moment it is made, so that
// those that are quicker have come when the device's own is done. Memory is that of kMostFetches models.
class PeerMeeting {
 public:
  // The clock must outlive it.
  PeerMeeting(PeerMeetingOptions options, const Clock& clock);
  // Gives up what has not come.
  ~PeerMeeting();
  PeerMeeting(const PeerMeeting&) = delete;
  PeerMeeting& operator=(const PeerMeeting&) = delete;

  // This neighbour is not waited for any longer; if its model has come it counts. From any thread.
  void Skip(DeviceId device);

  // Hands over every model, in the order in which they come, on the caller's thread; one that `take` refuses was not met.
  // Returns when no more is to come, with those that were met, by rising number. Cancelled when `over` says so, which is
  // asked several times a second, and after LookAgain.
  using Take = std::function<Status(const MeetingPeer& peer, const SharedWeights& model)>;
  StatusOr<std::vector<Met>> Collect(const Take& take, const std::function<bool()>& over);
  // What `over` says may have changed. From any thread.
  void LookAgain();

 private:
  enum class State { kWaiting, kDirect, kRelay, kCame, kMet, kMissed };
  struct Entry {
    MeetingPeer peer;
    State state = State::kWaiting;
    bool skipped = false;
    std::stop_source way;  // of the fetch under way
    std::shared_ptr<IncomingModel> model;
    std::int64_t direct_bytes = 0;
    // For what is stuck.
    std::int64_t seen = 0;
    TimePoint seen_at{0};
  };
  void Run();
  Entry* NextWaiting() TRIBUTARY_REQUIRES(mutex_);
  // The lock is given up in between.
  void Fetch(Entry& entry) TRIBUTARY_REQUIRES(mutex_);
  void StopStuck() TRIBUTARY_REQUIRES(mutex_);

  const PeerMeetingOptions options_;
  const Clock& clock_;
  Mutex mutex_;
  Condition changed_;
  std::vector<Entry> entries_ TRIBUTARY_GUARDED_BY(mutex_);
  bool closing_ TRIBUTARY_GUARDED_BY(mutex_) = false;
  std::uint64_t looks_ TRIBUTARY_GUARDED_BY(mutex_) = 0;  // times that Collect is to look whether it is over

  std::vector<std::thread> threads_;  // Last: they use the others.
};

}  // namespace tributary::inline protocol
