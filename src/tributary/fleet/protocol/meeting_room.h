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

// Fetches the models of neighbours that cannot be reached, by way of the coordinator, a run of bytes at a time. For one
// meeting; from any thread.
class RelayDesk {
 public:
  // `send` may block; a failure ends the fetch.
  using Send = std::function<Status(const Relay&)>;
  RelayDesk(std::uint64_t meeting, Send send) : meeting_(meeting), send_(std::move(send)) {}

  // Waits until all of it has come, or `stop` is asked for (then Cancelled). Corrupt if it changes on the way, more than a
  // restarted neighbour explains.
  Status Fetch(const MeetingPeer& peer, IncomingModel& model, const std::stop_token& stop);
  // Bytes have come. Bytes that were not requested are dropped.
  void Came(const Relayed& relayed, ByteSpan values);

 private:
  struct Wait {
    std::size_t offset = 0, bytes = 0;
    std::optional<std::uint64_t> version;  // of what has come
    std::vector<std::byte> values;
  };

  const std::uint64_t meeting_;
  const Send send_;
  Mutex mutex_;
  Condition changed_;
  std::map<DeviceId, Wait> waits_ TRIBUTARY_GUARDED_BY(mutex_);
};

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

// A session's side of meetings: what the coordinator says of them, and the neighbours that are dialled.
//
//   1. Announce: the assignment has come
//   2. Begin, on the thread that works on it: neighbours are asked
//   3. Offer, then Collect
//   4. End
//
// Announce and Handle are for the thread that messages come on, the others for the one that works.
class MeetingRoom {
 public:
  struct Options {
    OfferBook* book = nullptr;  // none: there are no meetings
    // Fetches a neighbour's model of that meeting from where it can be reached; none: everything is relayed.
    std::function<Status(std::uint64_t meeting, const MeetingPeer& peer, IncomingModel& model,
                         const std::stop_token& stop)>
        dial;
    // To the coordinator, from any thread; blocks until it has left.
    std::function<Status(const FromDevice&, ByteSpan values)> send;
    std::function<void(const std::string&)> say;  // for people
  };
  MeetingRoom(Options options, const Clock& clock);
  ~MeetingRoom();
  MeetingRoom(const MeetingRoom&) = delete;
  MeetingRoom& operator=(const MeetingRoom&) = delete;

  void Announce(const MeetingPlan& meeting);
  // A Status is against the protocol.
  Status Handle(const Absent& absent, ByteSpan);
  Status Handle(const Relay& relay, ByteSpan);
  Status Handle(const Relayed& relayed, ByteSpan values);

  // Models have these sizes.
  void Begin(const MeetingPlan& meeting, std::size_t parameters, std::size_t statistics);
  void Offer(const SharedWeights& model);
  StatusOr<std::vector<Met>> Collect(const PeerMeeting::Take& take, const std::function<bool()>& over);
  // What Collect's `over` says may have changed. From any thread.
  void LookAgain();
  void End();
  // Nothing is sent any more when this returns. What is offered stays.
  void Close();

 private:
  const Options options_;
  const Clock& clock_;

  Mutex mutex_;
  std::uint64_t announced_ TRIBUTARY_GUARDED_BY(mutex_) = 0;
  std::set<DeviceId> absent_ TRIBUTARY_GUARDED_BY(mutex_);  // from the meeting announced last
  std::shared_ptr<RelayDesk> desk_ TRIBUTARY_GUARDED_BY(mutex_);
  std::shared_ptr<PeerMeeting> meeting_ TRIBUTARY_GUARDED_BY(mutex_);  // that is under way
  std::uint64_t under_way_ TRIBUTARY_GUARDED_BY(mutex_) = 0;
  std::unique_ptr<RelayPorter> porter_ TRIBUTARY_GUARDED_BY(mutex_);
};

}  // namespace tributary::inline protocol
