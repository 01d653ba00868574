#include "tributary/fleet/protocol/peer_meeting.h"

#include <algorithm>
#include <cstring>

namespace tributary::inline protocol {

StatusOr<bool> IncomingModel::Append(std::uint64_t version, ByteSpan values) {
  came_ += static_cast<std::int64_t>(values.size());
  if (version_ && *version_ != version) {
    Clear();
    return false;
  }
  if (values.size() > bytes() - filled_) {
    return InvalidArgument("a model of more than the " + std::to_string(bytes()) + " bytes that it has here");
  }
  version_ = version;
  while (!values.empty()) {
    const std::size_t border = parameters_.size() * sizeof(float);
    const bool first = filled_ < border;
    const auto array = std::as_writable_bytes(first ? parameters_.span() : statistics_.span());
    const std::size_t at = first ? filled_ : filled_ - border;
    const std::size_t some = std::min(values.size(), array.size() - at);
    std::memcpy(array.data() + at, values.data(), some);
    filled_ += some;
    values = values.subspan(some);
  }
  return true;
}

void IncomingModel::Clear() {
  filled_ = 0;
  version_.reset();
}

PeerMeeting::PeerMeeting(PeerMeetingOptions options, const Clock& clock)
    : options_(std::move(options)), clock_(clock) {
  for (const MeetingPeer& peer : options_.peers) {
    Entry& entry = entries_.emplace_back();
    entry.peer = peer;
  }
  for (std::size_t i = 0; i < std::min(kMostFetches, entries_.size()); ++i) {
    threads_.emplace_back([this] { Run(); });
  }
}

PeerMeeting::~PeerMeeting() {
  {
    const MutexLock lock(mutex_);
    closing_ = true;
    changed_.NotifyAll();
  }
  // Without the lock: stop callbacks may take other locks.
  for (Entry& entry : entries_) {
    std::stop_source way(std::nostopstate);
    {
      const MutexLock lock(mutex_);
      way = entry.way;
    }
    way.request_stop();
  }
  for (std::thread& thread : threads_) thread.join();
}

void PeerMeeting::Skip(DeviceId device) {
  std::stop_source way(std::nostopstate);
  {
    const MutexLock lock(mutex_);
    const auto entry = std::ranges::find(entries_, device, [](const Entry& e) { return e.peer.device; });
    if (entry == entries_.end()) return;
    entry->skipped = true;
    if (entry->state == State::kWaiting) entry->state = State::kMissed;
    way = entry->way;
    changed_.NotifyAll();
  }
  way.request_stop();
}

PeerMeeting::Entry* PeerMeeting::NextWaiting() {
  const auto next = std::ranges::find(entries_, State::kWaiting, &Entry::state);
  return next == entries_.end() ? nullptr : &*next;
}

void PeerMeeting::Run() {
  MutexLock lock(mutex_);
  while (!closing_) {
    Entry* const entry = NextWaiting();
    if (entry == nullptr) return;
    Fetch(*entry);
    changed_.NotifyAll();
    // Wait until this model's memory is free.
    while (!closing_ && entry->state == State::kCame) changed_.Wait(lock);
  }
}

void PeerMeeting::Fetch(Entry& entry) {
  entry.model = std::make_shared<IncomingModel>(options_.parameters, options_.statistics);
  entry.seen_at = clock_.Now();
  Status status = Unavailable("it has no address");
  if (!entry.peer.address.empty()) {
    entry.state = State::kDirect;
    const std::stop_token stop = entry.way.get_token();
    mutex_.Unlock();
    status = options_.direct(entry.peer, *entry.model, stop);
    mutex_.Lock();
    entry.direct_bytes = entry.model->came();
  }
  if (!status.ok() && !entry.skipped && !closing_) {
    if (!entry.peer.address.empty()) {
      options_.say("'" + entry.peer.name + "' at " + entry.peer.address + ": " + status.message() +
                   "; its model comes by way of the coordinator");
    }
    entry.state = State::kRelay;
    entry.way = std::stop_source();
    const std::stop_token stop = entry.way.get_token();
    mutex_.Unlock();
    status = options_.relay(entry.peer, *entry.model, stop);
    mutex_.Lock();
  }
  entry.state = status.ok() && entry.model->complete() ? State::kCame : State::kMissed;
  if (entry.state == State::kMissed) entry.model.reset();
}

void PeerMeeting::StopStuck() {
  const TimePoint now = clock_.Now();
  for (Entry& entry : entries_) {
    if (entry.state != State::kDirect) continue;
    const std::int64_t came = entry.model->came();
    if (came != entry.seen) {
      entry.seen = came;
      entry.seen_at = now;
    } else if (came > 0 && now - entry.seen_at > options_.stall) {
      entry.way.request_stop();
    }
  }
}

void PeerMeeting::LookAgain() {
  const MutexLock lock(mutex_);
  ++looks_;
  changed_.NotifyAll();
}

StatusOr<std::vector<Met>> PeerMeeting::Collect(const Take& take, const std::function<bool()>& over) {
  // `over` reads flags without notification, and stalls must be detected.
  constexpr auto kBetweenLooks = std::chrono::milliseconds(100);
  for (;;) {
    MutexLock lock(mutex_);
    const std::uint64_t looks = looks_;
    lock.Unlock();
    const bool ended = over();  // Without the lock: `over` may take other locks.
    lock.Lock();
    const auto came = std::ranges::find(entries_, State::kCame, &Entry::state);
    if (came != entries_.end()) {
      const auto model = came->model;
      lock.Unlock();
      const Status taken = take(came->peer, model->model());
      if (!taken.ok()) options_.say("the model of '" + came->peer.name + "' is left out: " + taken.message());
      lock.Lock();
      came->state = taken.ok() ? State::kMet : State::kMissed;
      came->model.reset();
      changed_.NotifyAll();
      continue;
    }
    const auto settled = [](const Entry& entry) {
      return entry.state == State::kMet || entry.state == State::kMissed;
    };
    if (std::ranges::all_of(entries_, settled)) break;
    if (ended) return Cancelled("the assignment is over");
    StopStuck();
    if (looks == looks_) changed_.WaitFor(lock, kBetweenLooks);
  }
  const MutexLock lock(mutex_);
  std::vector<Met> met;
  for (const Entry& entry : entries_) {
    if (entry.state == State::kMet) met.push_back({entry.peer.device, entry.direct_bytes});
  }
  return met;
}

}  // namespace tributary::inline protocol
