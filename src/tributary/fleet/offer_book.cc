#include "tributary/fleet/offer_book.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "tributary/base/file.h"
#include "tributary/telemetry/digest.h"

namespace tributary::inline fleet {
namespace {

std::uint64_t VersionOf(const SharedWeights& model) {
  Digest digest;
  digest.Add(model.parameters);
  digest.Add(model.statistics);
  const std::string text = digest.Hex().substr(0, 16);
  std::uint64_t version = 0;
  std::from_chars(text.data(), text.data() + text.size(), version, 16);
  return version;
}

}  // namespace

void OfferBook::SetMeeting(std::optional<MeetingPlan> meeting) {
  {
    const MutexLock lock(mutex_);
    meeting_ = std::move(meeting);
    model_.reset();
    ++announced_;
  }
  Tell();
}

void OfferBook::Offer(std::uint64_t meeting, const SharedWeights& model) {
  const std::uint64_t version = VersionOf(model);
  {
    const MutexLock lock(mutex_);
    if (!meeting_ || meeting_->id != meeting) return;
    model_ = model;
    version_ = version;
  }
  Tell();
}

void OfferBook::Tell() const {
  changed_.NotifyAll();
  const MutexLock lock(telling_);
  if (listener_) listener_();
}

void OfferBook::SetListener(std::function<void()> listener) {
  const MutexLock lock(telling_);
  listener_ = std::move(listener);
}

OfferBook::Standing OfferBook::Find(std::uint64_t meeting) const {
  if (!meeting_ || meeting_->id != meeting) return Standing::kOther;
  return model_ ? Standing::kReady : Standing::kAwaited;
}

OfferBook::Standing OfferBook::Look(std::uint64_t meeting) const {
  const MutexLock lock(mutex_);
  return Find(meeting);
}

std::uint64_t OfferBook::announced() const {
  const MutexLock lock(mutex_);
  return announced_;
}

OfferBook::Standing OfferBook::Await(std::uint64_t meeting, const std::stop_token& stop) const {
  const std::stop_callback wake(stop, [this] {
    const MutexLock lock(mutex_);  // Threads that have checked the state are waiting now.
    changed_.NotifyAll();
  });
  MutexLock lock(mutex_);
  while (Find(meeting) == Standing::kAwaited && !stop.stop_requested()) changed_.Wait(lock);
  return Find(meeting);
}

Status OfferBook::CheckGuest(const std::string& name, const std::string& certificate) const {
  const MutexLock lock(mutex_);
  if (meeting_) {
    const auto peer = std::ranges::find(meeting_->peers, name, &MeetingPeer::name);
    if (peer != meeting_->peers.end() && peer->certificate == certificate) return OkStatus();
    if (peer != meeting_->peers.end())
      return InvalidArgument("'" + name + "' has another certificate than the coordinator named");
  }
  return InvalidArgument("'" + name + "' is not one of the neighbours to be met");
}

std::size_t OfferBook::bytes() const {
  const MutexLock lock(mutex_);
  return model_ ? model_->parameters.size_bytes() + model_->statistics.size_bytes() : 0;
}

std::optional<std::uint64_t> OfferBook::Read(std::uint64_t meeting, std::size_t offset,
                                             std::span<std::byte> out) const {
  const MutexLock lock(mutex_);
  if (Find(meeting) != Standing::kReady) return std::nullopt;
  ByteSpan parameters = std::as_bytes(model_->parameters), statistics = std::as_bytes(model_->statistics);
  const std::size_t all = parameters.size() + statistics.size();
  if (offset > all || out.size() > all - offset) return std::nullopt;
  for (const ByteSpan array : {parameters, statistics}) {
    const std::size_t skipped = std::min(offset, array.size());
    offset -= skipped;
    const std::size_t some = std::min(out.size(), array.size() - skipped);
    if (some > 0) std::memcpy(out.data(), array.data() + skipped, some);
    out = out.subspan(some);
  }
  return version_;
}

}  // namespace tributary::inline fleet
