#include "tributary/fleet/protocol/meeting_room.h"

namespace tributary::inline protocol {

MeetingRoom::MeetingRoom(Options options, const Clock& clock) : options_(std::move(options)), clock_(clock) {
  if (options_.book == nullptr) return;
  porter_ = std::make_unique<RelayPorter>(*options_.book, [this](const Relayed& relayed, ByteSpan values) {
    return options_.send(relayed, values);
  });
}

MeetingRoom::~MeetingRoom() { Close(); }

void MeetingRoom::Announce(const MeetingPlan& meeting) {
  {
    const MutexLock lock(mutex_);
    announced_ = meeting.id;
    absent_.clear();
  }
  if (options_.book != nullptr) options_.book->Announce(meeting);
}

Status MeetingRoom::Handle(const Absent& absent) {
  const MutexLock lock(mutex_);
  if (absent.meeting == announced_) absent_.insert(absent.device);
  if (absent.meeting == under_way_ && meeting_) meeting_->Skip(absent.device);
  return OkStatus();
}

Status MeetingRoom::Handle(const Relay& relay) {
  const MutexLock lock(mutex_);
  if (options_.book == nullptr)
    return InvalidArgument("the coordinator wants a model of a device that has none");
  if (!porter_) return OkStatus();  // The session ends.
  return porter_->Carry(relay);
}

Status MeetingRoom::Handle(const Relayed& relayed, ByteSpan values) {
  const MutexLock lock(mutex_);
  if (desk_) desk_->Came(relayed, values);
  return OkStatus();
}

void MeetingRoom::Begin(const MeetingPlan& meeting, std::size_t parameters, std::size_t statistics) {
  auto desk = std::make_shared<RelayDesk>(meeting.id,
                                          [this](const Relay& relay) { return options_.send(relay, {}); });
  PeerMeetingOptions options{.peers = meeting.peers, .parameters = parameters, .statistics = statistics};
  options.say = options_.say;
  options.relay = [desk](const MeetingPeer& peer, IncomingModel& model, const std::stop_token& stop) {
    return desk->Fetch(peer, model, stop);
  };
  options.direct = [this, id = meeting.id](const MeetingPeer& peer, IncomingModel& model,
                                           const std::stop_token& stop) {
    if (!options_.dial) return Unavailable("nobody is dialled");
    return options_.dial(id, peer, model, stop);
  };
  {
    const MutexLock lock(mutex_);
    desk_ = std::move(desk);  // Before anything is asked for.
  }
  auto begun = std::make_shared<PeerMeeting>(std::move(options), clock_);
  const MutexLock lock(mutex_);
  meeting_ = std::move(begun);
  under_way_ = meeting.id;
  if (announced_ != meeting.id) return;
  for (const DeviceId device : absent_) meeting_->Skip(device);
}

void MeetingRoom::Offer(const SharedWeights& model) {
  if (options_.book == nullptr) return;
  std::uint64_t meeting = 0;
  {
    const MutexLock lock(mutex_);
    meeting = under_way_;
  }
  options_.book->Offer(meeting, model);
}

StatusOr<std::vector<Met>> MeetingRoom::Collect(const PeerMeeting::Take& take,
                                                const std::function<bool()>& over) {
  std::shared_ptr<PeerMeeting> meeting;
  {
    const MutexLock lock(mutex_);
    meeting = meeting_;
  }
  return meeting->Collect(take, over);
}

void MeetingRoom::LookAgain() {
  const MutexLock lock(mutex_);
  if (meeting_) meeting_->LookAgain();
}

void MeetingRoom::End() {
  std::shared_ptr<PeerMeeting> meeting;  // Its threads end without the lock.
  const MutexLock lock(mutex_);
  meeting = std::move(meeting_);
  desk_.reset();
}

void MeetingRoom::Close() {
  End();
  std::unique_ptr<RelayPorter> porter;
  const MutexLock lock(mutex_);
  porter = std::move(porter_);
}

}  // namespace tributary::inline protocol
