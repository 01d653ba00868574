#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/file.h"
#include "tributary/base/mutex.h"
#include "tributary/fleet/messages.h"
#include "tributary/fleet/offer_book.h"
#include "tributary/fleet/protocol/peer_meeting.h"

namespace tributary::inline protocol {

// Fetches models of unreachable neighbours by way of the coordinator. Thread-safe; one object per meeting.
class RelayDesk {
 public:
  // `send` may block; if it fails, so does the fetch.
  using Send = std::function<Status(const Relay&)>;
  RelayDesk(std::uint64_t meeting, Send send) : meeting_(meeting), send_(std::move(send)) {}

  // Waits for the whole model; Cancelled by `stop`. Corrupt if the model changes too often during the fetch.
  Status Fetch(const MeetingPeer& peer, IncomingModel& model, const std::stop_token& stop);
  // Bytes have arrived. Drops bytes that were not requested.
  void Came(const Relayed& relayed, ByteSpan values);

 private:
  struct Wait {
    std::size_t offset = 0, bytes = 0;
    std::optional<std::uint64_t> version;  // of the received bytes
    std::vector<std::byte> values;
  };

  const std::uint64_t meeting_;
  const Send send_;
  Mutex mutex_;
  Condition changed_;
  std::map<DeviceId, Wait> waits_ TRIBUTARY_GUARDED_BY(mutex_);
};

// Sends this device's offered model to the coordinator, for neighbours that cannot reach this device. Uses
// its own thread, because the model may not be finished and the link may be slow.
class RelayPorter {
 public:
  // Blocks until the bytes are sent.
  using Send = std::function<Status(const Relayed&, ByteSpan values)>;
  // The book must outlive it.
  RelayPorter(const OfferBook& book, Send send) : book_(book), send_(std::move(send)) {}
  ~RelayPorter();

  // Queues a request until the model is there. ResourceExhausted if far too many wait.
  Status Carry(const Relay& relay);

 private:
  void Run(const std::stop_token& stop);

  const OfferBook& book_;
  const Send send_;
  Mutex mutex_;
  Condition changed_;
  std::deque<Relay> waiting_ TRIBUTARY_GUARDED_BY(mutex_);
  std::jthread thread_ TRIBUTARY_GUARDED_BY(mutex_);  // started on first use
};

// A session's side of meetings: the coordinator's messages about them, and the connections to neighbours.
//
//   1. Announce: the assignment has arrived
//   2. Begin, on the working thread: fetching of the neighbours' models starts
//   3. Offer, then Collect
//   4. End
//
// Announce and Handle are for the receiving thread, the rest for the working thread.
class MeetingRoom {
 public:
  struct Options {
    OfferBook* book = nullptr;  // null: there are no meetings
    // Fetches a neighbour's model of that meeting directly; empty: all models are relayed.
    std::function<Status(std::uint64_t meeting, const MeetingPeer& peer, IncomingModel& model,
                         const std::stop_token& stop)>
        dial;
    // Sends to the coordinator, from any thread; blocks until sent.
    std::function<Status(const FromDevice&, ByteSpan values)> send;
    std::function<void(const std::string&)> say;  // for people
  };
  MeetingRoom(Options options, const Clock& clock);
  ~MeetingRoom();

  void Announce(const MeetingPlan& meeting);
  // A Status is a protocol error.
  Status Handle(const Absent& absent, ByteSpan);
  Status Handle(const Relay& relay, ByteSpan);
  Status Handle(const Relayed& relayed, ByteSpan values);

  // `parameters` and `statistics`: sizes of a model.
  void Begin(const MeetingPlan& meeting, std::size_t parameters, std::size_t statistics);
  void Offer(const SharedWeights& model);
  StatusOr<std::vector<Met>> Collect(const PeerMeeting::Take& take, const std::function<bool()>& over);
  // The result of Collect's `over` may have changed. Thread-safe.
  void LookAgain();
  void End();
  // Nothing is sent after this returns. The offered model stays.
  void Close();

 private:
  const Options options_;
  const Clock& clock_;

  Mutex mutex_;
  std::uint64_t announced_ TRIBUTARY_GUARDED_BY(mutex_) = 0;
  std::set<DeviceId> absent_ TRIBUTARY_GUARDED_BY(mutex_);  // in the meeting announced last
  std::shared_ptr<RelayDesk> desk_ TRIBUTARY_GUARDED_BY(mutex_);
  std::shared_ptr<PeerMeeting> meeting_ TRIBUTARY_GUARDED_BY(mutex_);  // under way
  std::uint64_t under_way_ TRIBUTARY_GUARDED_BY(mutex_) = 0;
  std::unique_ptr<RelayPorter> porter_ TRIBUTARY_GUARDED_BY(mutex_);
};

}  // namespace tributary::inline protocol
