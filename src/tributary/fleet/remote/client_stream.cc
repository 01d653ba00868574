#include "tributary/fleet/remote/client_stream.h"

#include <grpcpp/generic/generic_stub.h>

#include <utility>

#include "tributary/fleet/remote/grpc_bytes.h"
#include "tributary/fleet/remote/grpc_settings.h"
#include "tributary/fleet/remote/wire.h"

namespace tributary::remote {

namespace {

// Short against a round's messages, long enough for those that carry no values.
constexpr Bytes kBurst{4096};

}  // namespace

ClientStream::ClientStream(const std::shared_ptr<grpc::Channel>& channel, Receiver receiver,
                           const Clock& clock, std::optional<LinkRate> rate)
    : receiver_(std::move(receiver)), clock_(clock) {
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
  std::unique_lock lock(mutex_);
  Pace(lock, up_, values.size());
  if (broken_) return failure_.value_or(Unavailable("the connection is broken"));
  AddHold();  // The other may go any moment.
  outgoing_ = MakeBuffer(Format(message), values);
  writing_ = true;
  lock.unlock();
  StartWrite(&outgoing_);
  lock.lock();
  changed_.wait(lock, [&] { return !writing_; });
  outgoing_.Clear();
  const Status status = broken_ ? failure_.value_or(Unavailable("the connection is broken")) : OkStatus();
  lock.unlock();
  RemoveHold();
  return status;
}

void ClientStream::Pace(std::unique_lock<std::mutex>& lock, std::optional<TokenBucket>& link,
                        std::size_t bytes) {
  if (!link) return;
  const TimePoint now = clock_.Now();
  const TimePoint until = link->Pass(Bytes{static_cast<std::int64_t>(bytes)}, now);
  changed_.wait_for(lock, until - now, [&] { return broken_; });
}

void ClientStream::OnWriteDone(bool ok) {
  const std::lock_guard lock(mutex_);
  writing_ = false;
  if (!ok) broken_ = true;
  changed_.notify_all();
}

void ClientStream::OnReadDone(bool ok) {
  if (!ok) {  // The other side has ended it, and its reason follows.
    Break(std::nullopt);
    return ReleaseHold();
  }
  Status status = ReadFrame(incoming_, frame_);
  incoming_.Clear();
  if (down_) {  // Holds up a thread of gRPC's, which a device with a test's slow link can spare.
    std::unique_lock lock(mutex_);
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
  const std::lock_guard lock(mutex_);
  broken_ = true;
  if (failure) {
    if (!failure_) failure_ = std::move(failure);
    context_.TryCancel();
  }
  changed_.notify_all();
}

void ClientStream::ReleaseHold() {
  {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(hold_, false)) return;
  }
  RemoveHold();
}

void ClientStream::Resume() { Deliver(); }

void ClientStream::OnDone(const grpc::Status& status) {
  const std::lock_guard lock(mutex_);
  done_ = failure_.value_or(FromGrpc(status));
  broken_ = true;
  changed_.notify_all();
}

bool ClientStream::alive() const {
  const std::lock_guard lock(mutex_);
  return !broken_;
}

Status ClientStream::Finish() {
  constexpr auto kForItsReason = std::chrono::milliseconds(500);
  std::unique_lock lock(mutex_);
  const bool ended = broken_ && changed_.wait_for(lock, kForItsReason, [&] { return done_.has_value(); });
  broken_ = true;
  lock.unlock();
  if (!ended) context_.TryCancel();
  ReleaseHold();
  lock.lock();
  changed_.wait(lock, [&] { return done_.has_value(); });
  return *done_;
}

}  // namespace tributary::remote
