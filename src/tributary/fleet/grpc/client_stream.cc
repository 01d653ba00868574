#include "tributary/fleet/grpc/client_stream.h"

#include <grpcpp/generic/generic_stub.h>

#include <utility>

#include "tributary/fleet/grpc/grpc_settings.h"
#include "tributary/fleet/grpc/wire.h"

namespace tributary::inline rpc {

constexpr Bytes kBurst{4096};  // small next to a round's messages, enough for those without values

ClientStream::ClientStream(const std::shared_ptr<grpc::Channel>& channel, Receiver receiver,
                           std::function<void()> broken, const Clock& clock, std::optional<LinkRate> rate)
    : receiver_(std::move(receiver)), on_broken_(std::move(broken)), clock_(clock) {
  if (rate) {
    up_.emplace(rate->up, kBurst);
    down_.emplace(rate->down, kBurst);
  }
  grpc::GenericStub stub(channel);
  stub.PrepareBidiStreamingCall(&context_, "/tributary.v1.Fleet/Join", grpc::StubOptions(), this);
  AddHold();
  StartRead(&incoming_);
  StartCall();
}

ClientStream::~ClientStream() { (void)Finish(); }

Status ClientStream::Send(const FromDevice& message, ByteSpan values) {
  MutexLock lock(mutex_);
  Pace(lock, up_, values.size());
  if (broken_) return Reason();
  AddHold();  // the hold of the constructor may be removed at any time
  outgoing_ = MakeBuffer(Format(message), values);
  writing_ = true;
  lock.Unlock();
  StartWrite(&outgoing_);
  lock.Lock();
  while (writing_) changed_.Wait(lock);
  outgoing_.Clear();
  const Status status = broken_ ? Reason() : OkStatus();
  lock.Unlock();
  RemoveHold();
  return status;
}

Status ClientStream::Reason() const { return failure_.value_or(Unavailable("the connection is broken")); }

void ClientStream::Pace(MutexLock& lock, std::optional<TokenBucket>& link, std::size_t bytes) {
  if (!link) return;
  const TimePoint until = link->Pass(Bytes{static_cast<std::int64_t>(bytes)}, clock_.Now());
  while (!broken_) {
    const TimePoint now = clock_.Now();
    if (now >= until) return;
    changed_.WaitFor(lock, until - now);
  }
}

void ClientStream::OnWriteDone(bool ok) {
  if (!ok) Break(std::nullopt);
  const MutexLock lock(mutex_);
  writing_ = false;
  changed_.NotifyAll();
}

void ClientStream::OnReadDone(bool ok) {
  if (!ok) {  // the other side has ended the call, and its reason follows
    Break(std::nullopt);
    return ReleaseHold();
  }
  Status status = ReadFrame(incoming_, frame_);
  incoming_.Clear();
  {  // blocks one of gRPC's threads; only tests simulate a slow link
    MutexLock lock(mutex_);
    Pace(lock, down_, frame_.size);
  }
  if (status.ok()) {
    auto message = ParseToDevice(frame_.fields);
    if (message.ok()) {
      message_ = std::move(*message);
      return Deliver();
    }
    status = message.status();
  }
  Break(std::move(status));
  ReleaseHold();
}

void ClientStream::Deliver() {
  const auto next = receiver_(*message_, frame_.values());
  if (!next.ok()) {
    Break(next.status());
    ReleaseHold();
  } else if (*next == Next::kGoOn) {
    StartRead(&incoming_);
  }
}

void ClientStream::Break(std::optional<Status> failure) {
  {
    const MutexLock lock(mutex_);
    broken_ = true;
    if (failure) {
      if (!failure_) failure_ = std::move(failure);
      context_.TryCancel();
    }
    changed_.NotifyAll();
  }
  on_broken_();
}

void ClientStream::ReleaseHold() {
  {
    const MutexLock lock(mutex_);
    if (!std::exchange(hold_, false)) return;
  }
  RemoveHold();
}

void ClientStream::Resume() { Deliver(); }

void ClientStream::OnDone(const grpc::Status& status) {
  Break(std::nullopt);  // First: `this` may be destroyed once `done_` is set.
  const MutexLock lock(mutex_);
  done_ = failure_.value_or(FromGrpc(status));
  changed_.NotifyAll();
}

std::string ClientStream::PeerCertificate() const { return rpc::PeerCertificate(*context_.auth_context()); }

bool ClientStream::alive() const {
  const MutexLock lock(mutex_);
  return !broken_;
}

Status ClientStream::Finish() {
  constexpr Duration kForItsReason = std::chrono::milliseconds(500);
  MutexLock lock(mutex_);
  while (broken_ && !done_ && changed_.WaitFor(lock, kForItsReason)) {
  }
  const bool ended = done_.has_value();
  broken_ = true;
  lock.Unlock();
  if (!ended) context_.TryCancel();
  ReleaseHold();
  lock.Lock();
  while (!done_) changed_.Wait(lock);
  return *done_;
}

}  // namespace tributary::inline rpc
