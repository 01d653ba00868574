#include "tributary/fleet/grpc/peers.h"

#include <grpcpp/client_context.h>
#include <tributary/v1/fleet.grpc.pb.h>

#include "tributary/fleet/grpc/grpc_settings.h"
#include "tributary/fleet/grpc/secure_server.h"
#include "tributary/fleet/grpc/wire_parts.h"
#include "tributary/keys/party_name.h"

namespace tributary::inline rpc {
namespace {

constexpr std::size_t kMostKept = 256;

// TLS has checked fleet and name of the certificate. It must also be the one that the coordinator admitted.
Status CheckCertificate(const grpc::ClientContext& context, const MeetingPeer& peer,
                        const RevocationList* revoked) {
  const std::string certificate = PeerCertificate(*context.auth_context());
  TRIBUTARY_ASSIGN_OR_RETURN(const std::string serial, SerialInCertificate(certificate));
  if (serial == peer.certificate) return revoked == nullptr ? OkStatus() : revoked->Check(certificate);
  return InvalidArgument("the peer has another certificate of '" + peer.name +
                         "' than the coordinator knows");
}

constexpr std::size_t kMostCalls = 256;
constexpr int kLargestRequest = 4096;

// A call. It lives until gRPC and the service have released it.
class PeerCall : public grpc::ServerWriteReactor<v1::ModelPart>,
                 public std::enable_shared_from_this<PeerCall> {
 public:
  PeerCall(const OfferBook& book, std::uint64_t meeting, std::string name, std::string certificate,
           std::function<void(PeerCall&)> done)
      : book_(book),
        meeting_(meeting),
        name_(std::move(name)),
        certificate_(std::move(certificate)),
        begun_at_(book.announced()),
        done_(std::move(done)) {}

  void Begin() {
    self_ = shared_from_this();
    StartSendInitialMetadata();  // tells the client that the call has arrived
  }
  void OnSendInitialMetadataDone(bool ok) override {
    {
      const MutexLock lock(mutex_);
      open_ = true;
      if (!ok && !ending_) ending_ = grpc::Status::CANCELLED;
    }
    Go();
  }
  void OnWriteDone(bool ok) override {
    {
      const MutexLock lock(mutex_);
      writing_ = false;
      if (!ok && !ending_) ending_ = grpc::Status::CANCELLED;
    }
    Go();
  }
  void OnCancel() override { End(grpc::Status::CANCELLED); }
  void OnDone() override {
    done_(*this);
    self_.reset();  // may be the last reference
  }

  void End(grpc::Status status) {
    {
      const MutexLock lock(mutex_);
      if (!ending_) ending_ = std::move(status);
    }
    Go();
  }

  // Sends or ends if possible; otherwise waits for a change of the book.
  void Go() {
    const MutexLock lock(mutex_);
    if (!open_ || writing_ || ended_) return;
    if (!ending_ && !Send()) return;
    if (!ending_) return;
    ended_ = true;
    Finish(*ending_);
  }

  const std::string& name() const { return name_; }

 private:
  // Sends the next part, or sets `ending_`. False if it has to wait.
  bool Send() TRIBUTARY_REQUIRES(mutex_) {
    const OfferBook::Standing standing = book_.Look(meeting_);
    if (standing == OfferBook::Standing::kOther) {
      // A neighbour may hear of the next meeting, and only that, before this device does.
      if (!known_ && book_.announced() == begun_at_) return false;
      ending_ = grpc::Status(grpc::StatusCode::NOT_FOUND, "this device is not at that meeting");
      return true;
    }
    if (!Admit()) return true;
    if (standing == OfferBook::Standing::kAwaited) return false;
    const std::size_t all = book_.bytes();
    if (sent_ >= all) {
      ending_ = grpc::Status::OK;
      return true;
    }
    std::string& values = *part_.mutable_values();
    values.resize(std::min(kMostPartBytes, all - sent_));
    const auto version = book_.Read(meeting_, sent_, std::as_writable_bytes(std::span(values)));
    if (!version) {
      ending_ = grpc::Status(grpc::StatusCode::NOT_FOUND, "the meeting is over");
      return true;
    }
    part_.set_version(*version);
    sent_ += values.size();
    writing_ = true;
    StartWrite(&part_);
    return true;
  }

  // Whether the client may have the model; if not, sets `ending_`.
  bool Admit() TRIBUTARY_REQUIRES(mutex_) {
    if (known_) return true;
    if (const Status status = book_.CheckGuest(name_, certificate_); !status.ok()) {
      ending_ = grpc::Status(grpc::StatusCode::PERMISSION_DENIED, status.message());
      return false;
    }
    known_ = true;
    return true;
  }

  const OfferBook& book_;
  const std::uint64_t meeting_;
  const std::string name_, certificate_;
  const std::uint64_t begun_at_;
  const std::function<void(PeerCall&)> done_;
  std::shared_ptr<PeerCall> self_;

  Mutex mutex_;
  v1::ModelPart part_ TRIBUTARY_GUARDED_BY(mutex_);
  std::size_t sent_ TRIBUTARY_GUARDED_BY(mutex_) = 0;
  bool known_ TRIBUTARY_GUARDED_BY(mutex_) = false;  // as a neighbour in this meeting
  bool open_ TRIBUTARY_GUARDED_BY(mutex_) = false;
  bool writing_ TRIBUTARY_GUARDED_BY(mutex_) = false;
  bool ended_ TRIBUTARY_GUARDED_BY(mutex_) = false;
  std::optional<grpc::Status> ending_ TRIBUTARY_GUARDED_BY(mutex_);
};

class RefusedCall : public grpc::ServerWriteReactor<v1::ModelPart> {
 public:
  explicit RefusedCall(const grpc::Status& status) { Finish(status); }
  void OnDone() override { delete this; }
};

}  // namespace

std::shared_ptr<grpc::Channel> PeerClient::ChannelTo(const MeetingPeer& peer) {
  const MutexLock lock(mutex_);
  std::optional<Credentials> credentials;
  if (credentials_) {
    (void)credentials_->Refresh();  // the agent reports what cannot be read
    if (std::exchange(version_, credentials_->version()) != credentials_->version()) channels_.clear();
    credentials = credentials_->Get();
  }
  if (channels_.size() >= kMostKept) channels_.clear();  // channels in use stay alive
  std::shared_ptr<grpc::Channel>& channel = channels_[{peer.name, peer.address}];
  if (!channel) channel = DialPeer(peer.address, credentials, peer.name);
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
  request.set_name(credentials_ ? credentials_->Get().name : name_);
  const auto reader = stub->Fetch(&context, request);
  reader->WaitForInitialMetadata();  // the certificate is known when this returns
  Status status;
  v1::ModelPart part;
  bool checked = !credentials_;
  while (status.ok() && reader->Read(&part)) {
    if (!checked) status = CheckCertificate(context, peer, revoked_);
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

struct PeerServer::State {
  State(PeerServerOptions options, OfferBook& the_book)
      : book(the_book), revoked(options.revoked), address(options.advertise) {
    if (options.credentials) credentials.emplace(*std::move(options.credentials));
    book.SetListener([this] {
      for (const auto& call : Calls()) call->Go();
    });
  }
  ~State() { book.SetListener(nullptr); }

  grpc::ServerWriteReactor<v1::ModelPart>* Fetch(const grpc::CallbackServerContext& context,
                                                 const v1::FetchRequest& request) {
    std::string name = request.name(), certificate;
    if (const Status status = Identify(*context.auth_context(), name, certificate); !status.ok()) {
      return new RefusedCall(ToGrpc(status));
    }
    const auto traffic = server->Prove(context.peer(), name);
    if (!traffic.ok()) return new RefusedCall(ToGrpc(traffic.status()));
    (*traffic)->Took(request.ByteSizeLong());
    auto call = std::make_shared<PeerCall>(book, request.meeting(), name, std::move(certificate),
                                           [this](PeerCall& done) { Forget(done); });
    std::shared_ptr<PeerCall> older;
    {
      const MutexLock lock(mutex);
      if (calls.size() >= kMostCalls && !calls.contains(name)) {
        return new RefusedCall({grpc::StatusCode::RESOURCE_EXHAUSTED, "too many calls at once"});
      }
      older = std::exchange(calls[name], call);
    }
    if (older) older->End({grpc::StatusCode::ABORTED, "'" + name + "' asks again"});
    call->Begin();
    return call.get();
  }

  Status Identify(const grpc::AuthContext& context, std::string& name, std::string& certificate) const {
    if (credentials) {
      const std::string shown = PeerCertificate(context);
      TRIBUTARY_ASSIGN_OR_RETURN(const Party real, PartyInCertificate(shown));
      TRIBUTARY_ASSIGN_OR_RETURN(certificate, SerialInCertificate(shown));
      TRIBUTARY_RETURN_IF_ERROR(CheckRight(real, Right::kTakePart));
      if (revoked != nullptr) TRIBUTARY_RETURN_IF_ERROR(revoked->Check(shown));
      if (!name.empty() && name != real.name) {
        return InvalidArgument("the client that calls itself '" + Clean(name, 80) +
                               "' has the certificate of '" + real.name + "'");
      }
      name = real.name;
    }
    return CheckDeviceName(name);
  }
  std::vector<std::shared_ptr<PeerCall>> Calls() {
    const MutexLock lock(mutex);
    std::vector<std::shared_ptr<PeerCall>> all;
    for (const auto& [name, call] : calls) all.push_back(call);
    return all;
  }
  void Forget(PeerCall& call) {
    const MutexLock lock(mutex);
    const auto found = calls.find(call.name());
    if (found != calls.end() && found->second.get() == &call) calls.erase(found);
  }

  OfferBook& book;
  const RevocationList* const revoked;
  PeerAddress address;
  std::optional<LiveCredentials> credentials;
  Mutex mutex;
  std::map<std::string, std::shared_ptr<PeerCall>> calls TRIBUTARY_GUARDED_BY(mutex);  // by name
  std::unique_ptr<SecureServer> server;
};

class PeerServer::Service : public v1::Peers::WithCallbackMethod_Fetch<v1::Peers::Service> {
 public:
  explicit Service(State& state) : state_(state) {}
  grpc::ServerWriteReactor<v1::ModelPart>* Fetch(grpc::CallbackServerContext* context,
                                                 const v1::FetchRequest* request) override {
    return state_.Fetch(*context, *request);
  }

 private:
  State& state_;
};

StatusOr<std::unique_ptr<PeerServer>> PeerServer::Start(PeerServerOptions options, OfferBook& book) {
  std::string listen = options.listen;
  if (listen.empty()) {
    const std::string host = options.advertise.loopback() ? options.advertise.host : "::";
    listen = Format(PeerAddress{host, options.advertise.port});
  }
  auto state = std::make_unique<State>(std::move(options), book);
  State& raw = *state;
  auto server = SecureServer::Make(listen, raw.credentials ? &*raw.credentials : nullptr, kLargestRequest,
                                   [&raw] { return std::make_unique<Service>(raw); });
  if (!server.ok()) {
    return InvalidArgument("cannot listen for neighbours on " + listen +
                           ": is the address one of this machine's, and does no other program listen there?");
  }
  state->server = std::move(*server);
  TRIBUTARY_RETURN_IF_ERROR(state->server->Start());
  if (state->address.port == 0) state->address.port = state->server->port();
  return std::unique_ptr<PeerServer>(new PeerServer(std::move(state)));
}

PeerServer::PeerServer(std::unique_ptr<State> state) : state_(std::move(state)) {}

PeerServer::~PeerServer() {
  state_->server->StopListening();
  for (const auto& call : state_->Calls()) call->End({grpc::StatusCode::UNAVAILABLE, "the device goes away"});
  state_->server->Stop();
}

std::string PeerServer::address() const { return Format(state_->address); }

}  // namespace tributary::inline rpc
