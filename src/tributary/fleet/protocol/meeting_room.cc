#include "tributary/fleet/protocol/meeting_room.h"

#include <algorithm>

namespace tributary::inline protocol {

constexpr std::size_t kMostWaiting = 10'000;

Status RelayDesk::Fetch(const MeetingPeer& peer, IncomingModel& model, const std::stop_token& stop) {
  constexpr int kMostAnew = 2;  // The coordinator refuses devices that repeat fetches more often.
  const std::stop_callback wake(stop, [this] {
    const MutexLock lock(mutex_);  // Threads that have checked the state are waiting now.
    changed_.NotifyAll();
  });
  int anew = 0;
  model.Clear();
  while (!model.complete()) {
    const std::size_t bytes = std::min(kMostRelayBytes, model.bytes() - model.filled());
    {
      const MutexLock lock(mutex_);
      waits_[peer.device] = {model.filled(), bytes, std::nullopt, {}};
    }
    TRIBUTARY_RETURN_IF_ERROR(send_({meeting_, peer.device, model.filled(), bytes}));
    MutexLock lock(mutex_);
    Wait& wait = waits_[peer.device];
    while (!wait.version && !stop.stop_requested()) changed_.Wait(lock);
    if (!wait.version) {
      waits_.erase(peer.device);
      return Cancelled("the neighbour is no longer awaited");
    }
    const Wait came = std::move(wait);
    waits_.erase(peer.device);
    lock.Unlock();
    // If the neighbour has a new model since, the fetch starts over.
    TRIBUTARY_ASSIGN_OR_RETURN(const bool same, model.Append(*came.version, came.values));
    if (!same && ++anew > kMostAnew) return Corrupt("its model changed during every fetch");
  }
  return OkStatus();
}

void RelayDesk::Came(const Relayed& relayed, ByteSpan values) {
  const MutexLock lock(mutex_);
  if (relayed.meeting != meeting_) return;
  const auto wait = waits_.find(relayed.device);
  if (wait == waits_.end() || wait->second.version || wait->second.offset != relayed.offset ||
      wait->second.bytes != values.size()) {
    return;
  }
  wait->second.version = relayed.version;
  wait->second.values.assign(values.begin(), values.end());
  changed_.NotifyAll();
}

RelayPorter::~RelayPorter() {
  std::jthread thread;  // Joined without the lock.
  const MutexLock lock(mutex_);
  thread = std::move(thread_);
}

Status RelayPorter::Carry(const Relay& relay) {
  const MutexLock lock(mutex_);
  if (waiting_.size() >= kMostWaiting)
    return ResourceExhausted("the coordinator requests too many relays at once");
  waiting_.push_back(relay);
  if (!thread_.joinable()) {
    thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
  }
  changed_.NotifyAll();
  return OkStatus();
}

void RelayPorter::Run(const std::stop_token& stop) {
  const std::stop_callback wake(stop, [this] {
    const MutexLock lock(mutex_);  // Threads that have checked the state are waiting now.
    changed_.NotifyAll();
  });
  std::vector<std::byte> values;
  for (;;) {
    Relay relay;
    {
      MutexLock lock(mutex_);
      while (waiting_.empty() && !stop.stop_requested()) changed_.Wait(lock);
      if (waiting_.empty()) return;
      relay = waiting_.front();
      waiting_.pop_front();
    }
    (void)book_.Await(relay.meeting, stop);
    if (stop.stop_requested()) return;
    values.resize(relay.bytes);
    const auto version = book_.Read(relay.meeting, relay.offset, values);
    // If the model is not available (any more), an empty message says so.
    const Relayed relayed{relay.meeting, relay.device, relay.offset, version.value_or(0)};
    if (!send_(relayed, version ? ByteSpan(values) : ByteSpan()).ok()) return;  // The connection is broken.
  }
}

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

Status MeetingRoom::Handle(const Absent& absent, ByteSpan) {
  const MutexLock lock(mutex_);
  if (absent.meeting == announced_) absent_.insert(absent.device);
  if (absent.meeting == under_way_ && meeting_) meeting_->Skip(absent.device);
  return OkStatus();
}

Status MeetingRoom::Handle(const Relay& relay, ByteSpan) {
  const MutexLock lock(mutex_);
  if (options_.book == nullptr)
    return InvalidArgument("the coordinator requests a model from a device that offers none");
  if (!porter_) return OkStatus();  // The session is ending.
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
    if (!options_.dial) return Unavailable("direct connections are off");
    return options_.dial(id, peer, model, stop);
  };
  {
    const MutexLock lock(mutex_);
    desk_ = std::move(desk);  // Before the first request.
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
  std::shared_ptr<PeerMeeting> meeting;  // Its threads are joined without the lock.
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
