#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "tributary/base/clock.h"
#include "tributary/base/mutex.h"
#include "tributary/fleet/offer_book.h"
#include "tributary/fleet/protocol/peer_meeting.h"
#include "tributary/fleet/protocol/relay_desk.h"
#include "tributary/fleet/protocol/relay_porter.h"

namespace tributary::inline protocol {

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
  Status Handle(const Absent& absent);
  Status Handle(const Relay& relay);
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
