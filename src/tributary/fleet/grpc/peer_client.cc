#include "tributary/fleet/grpc/peer_client.h"

#include <grpcpp/client_context.h>
#include <tributary/v1/fleet.grpc.pb.h>

#include "tributary/fleet/grpc/channel.h"
#include "tributary/fleet/grpc/credentials.h"
#include "tributary/fleet/grpc/grpc_settings.h"

namespace tributary::inline rpc {
namespace {

constexpr std::size_t kMostKept = 256;

// TLS has seen to it that the certificate is one of the fleet's, in the neighbour's name. It must also be the one that the
// coordinator has let in: not an older one that was revoked.
Status CheckCertificate(const grpc::ClientContext& context, const MeetingPeer& peer) {
  TRIBUTARY_ASSIGN_OR_RETURN(const std::string serial,
                             SerialInCertificate(PeerCertificate(*context.auth_context())));
  if (serial == peer.certificate) return OkStatus();
  return InvalidArgument("who answers there has another certificate of '" + peer.name +
                         "' than the coordinator knows");
}

}  // namespace

std::shared_ptr<grpc::Channel> PeerClient::ChannelTo(const MeetingPeer& peer) {
  const MutexLock lock(mutex_);
  if (channels_.size() >= kMostKept) channels_.clear();  // Those in use stay until they are not.
  std::shared_ptr<grpc::Channel>& channel = channels_[{peer.name, peer.address}];
  if (!channel) channel = DialPeer(peer.address, credentials_, peer.name);
  return channel;
}

Status PeerClient::Fetch(std::uint64_t meeting, const MeetingPeer& peer, IncomingModel& model,
                         const std::stop_token& stop) {
  const auto channel = ChannelTo(peer);
  TRIBUTARY_RETURN_IF_ERROR(AwaitPeer(*channel, [&] { return stop.stop_requested(); }));
  const auto stub = v1::Peers::NewStub(channel);
  grpc::ClientContext context;
  const std::stop_callback cancel(stop, [&] { context.TryCancel(); });
  v1::FetchRequest request;
  request.set_meeting(meeting);
  request.set_name(credentials_ ? credentials_->name : name_);
  const auto reader = stub->Fetch(&context, request);
  reader->WaitForInitialMetadata();  // So that somebody has answered, whose certificate can be looked at.
  Status status;
  v1::ModelPart part;
  bool checked = !credentials_;
  while (status.ok() && reader->Read(&part)) {
    if (!checked) status = CheckCertificate(context, peer);
    checked = true;
    if (status.ok() && (part.values().empty() || part.values().size() > kMostPartBytes)) {
      status = InvalidArgument("a part of " + std::to_string(part.values().size()) + " bytes");
    }
    if (!status.ok()) break;
    const auto same = model.Append(part.version(), std::as_bytes(std::span(part.values())));
    status = same.ok() && !*same ? Corrupt("its model changes on the way") : same.status();
  }
  if (!status.ok()) context.TryCancel();
  const grpc::Status ended = reader->Finish();
  TRIBUTARY_RETURN_IF_ERROR(status);
  if (!ended.ok()) return FromGrpc(ended);
  return model.complete() ? OkStatus() : Corrupt("its model ends early");
}

}  // namespace tributary::inline rpc
