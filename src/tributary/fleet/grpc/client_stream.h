#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/client_callback.h>

#include <functional>
#include <memory>
#include <optional>

#include "tributary/base/clock.h"
#include "tributary/base/mutex.h"
#include "tributary/base/status.h"
#include "tributary/fleet/grpc/frame.h"
#include "tributary/fleet/messages.h"
#include "tributary/fleet/protocol/link.h"

namespace tributary::inline rpc {

// A device's end of its stream to the coordinator. Messages arrive one after the other on gRPC's threads.
// Send blocks until gRPC has taken the message, so a slow link slows down a fast device.
class ClientStream : private grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  enum class Next {
    kGoOn,
    kHold,  // keep this message and stop reading; Resume delivers it again
  };
  using Receiver = std::function<StatusOr<Next>(const ToDevice&, ByteSpan values)>;

  // Begins the call; an error of the receiver ends it. `broken` is called on gRPC's threads when it has
  // ended, possibly more than once, but not after Finish.
  ClientStream(const std::shared_ptr<grpc::Channel>& channel, Receiver receiver, std::function<void()> broken,
               const Clock& clock, std::optional<LinkRate> rate = {});
  // Calls Finish.
  ~ClientStream() override;

  // One caller at a time.
  Status Send(const FromDevice& message, ByteSpan values = {});
  void Resume();
  // The coordinator's certificate; empty without TLS. Only while a message is received.
  std::string PeerCertificate() const;
  // Whether the stream still carries messages, as far as known.
  bool alive() const;
  // Ends the call unless it has ended, and returns the reason. Nothing may be sent afterwards.
  Status Finish();

 private:
  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;
  void Deliver();
  void Break(std::optional<Status> failure);
  void ReleaseHold();
  // Waits until the simulated slow link, if any, has passed these bytes, or the stream breaks.
  void Pace(MutexLock& lock, std::optional<TokenBucket>& link, std::size_t bytes) TRIBUTARY_REQUIRES(mutex_);
  Status Reason() const TRIBUTARY_REQUIRES(mutex_);

  const Receiver receiver_;
  const std::function<void()> on_broken_;
  const Clock& clock_;
  grpc::ClientContext context_;
  grpc::ByteBuffer incoming_, outgoing_;
  Frame frame_;
  std::optional<ToDevice> message_;

  mutable Mutex mutex_;
  mutable Condition changed_;
  std::optional<TokenBucket> up_ TRIBUTARY_GUARDED_BY(mutex_), down_ TRIBUTARY_GUARDED_BY(mutex_);
  bool writing_ TRIBUTARY_GUARDED_BY(mutex_) = false;
  bool broken_ TRIBUTARY_GUARDED_BY(mutex_) = false;
  // Prevents gRPC from ending the call, so that messages may be sent outside of its callbacks.
  bool hold_ TRIBUTARY_GUARDED_BY(mutex_) = true;
  // Our own reason, more specific than gRPC's.
  std::optional<Status> failure_ TRIBUTARY_GUARDED_BY(mutex_);
  std::optional<Status> done_ TRIBUTARY_GUARDED_BY(mutex_);
};

}  // namespace tributary::inline rpc
