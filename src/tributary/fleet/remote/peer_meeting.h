#pragma once

#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/fleet/remote/incoming_model.h"
#include "tributary/fleet/remote/messages.h"

namespace tributary::remote {

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
  // Returns when no more is to come, with those that were met, by rising number. Cancelled when `over` says so.
  using Take = std::function<Status(const MeetingPeer& peer, const SharedWeights& model)>;
  StatusOr<std::vector<Met>> Collect(const Take& take, const std::function<bool()>& over);

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
  Entry* NextWaiting();
  void Fetch(std::unique_lock<std::mutex>& lock, Entry& entry);
  void StopStuck();

  const PeerMeetingOptions options_;
  const Clock& clock_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::vector<Entry> entries_;
  bool closing_ = false;

  std::vector<std::thread> threads_;  // Last: they use the others.
};

}  // namespace tributary::remote
