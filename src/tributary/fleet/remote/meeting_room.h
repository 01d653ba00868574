#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "tributary/base/clock.h"
#include "tributary/fleet/remote/offer_book.h"
#include "tributary/fleet/remote/peer_client.h"
#include "tributary/fleet/remote/peer_meeting.h"
#include "tributary/fleet/remote/relay_desk.h"
#include "tributary/fleet/remote/relay_porter.h"

namespace tributary::remote {

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
    OfferBook* book = nullptr;     // none: there are no meetings
    PeerClient* client = nullptr;  // none: everything is relayed
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

  // Models have so many values.
  void Begin(const MeetingPlan& meeting, std::size_t parameters, std::size_t statistics);
  void Offer(const SharedWeights& model);
  StatusOr<std::vector<Met>> Collect(const PeerMeeting::Take& take, const std::function<bool()>& over);
  void End();
  // Nothing is sent any more when this returns. What is offered stays.
  void Close();

 private:
  const Options options_;
  const Clock& clock_;

  std::mutex mutex_;
  // Guarded by mutex_.
  std::uint64_t announced_ = 0;
  std::set<DeviceId> absent_;  // from the meeting announced last
  std::shared_ptr<RelayDesk> desk_;
  std::unique_ptr<PeerMeeting> meeting_;  // that is under way; set by the thread that works
  std::uint64_t under_way_ = 0;
  std::unique_ptr<RelayPorter> porter_;
};

}  // namespace tributary::remote
