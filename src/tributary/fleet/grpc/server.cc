#include "tributary/fleet/grpc/server.h"

#include <fmt/format.h>
#include <tributary/v1/fleet.grpc.pb.h>

#include <atomic>
#include <thread>

#include "tributary/base/log.h"
#include "tributary/base/mutex.h"
#include "tributary/fleet/grpc/frame.h"
#include "tributary/fleet/grpc/grpc_settings.h"
#include "tributary/fleet/grpc/secure_server.h"
#include "tributary/fleet/grpc/wire.h"
#include "tributary/fleet/grpc/wire_parts.h"
#include "tributary/keys/live_credentials.h"
#include "tributary/keys/revocation_list.h"

namespace tributary::inline rpc {
namespace {

namespace pb = ::tributary::v1;

// After this time, closing a stream cancels the message that is being sent.
constexpr Duration kMostTimeToWrite = std::chrono::milliseconds(500);

// Authorisation by certificate: its role, its expiry and the revocation list.
class Gate {
 public:
  // Without credentials, which must outlive it, everybody may take part and watch.
  Gate(LiveCredentials* credentials, std::unique_ptr<RevocationList> revoked, WallClock wall_clock)
      : credentials_(credentials), revoked_(std::move(revoked)), wall_clock_(std::move(wall_clock)) {}

  // The name in the peer's certificate, nothing without TLS; or the reason for refusing it.
  StatusOr<std::optional<std::string>> Admit(const grpc::AuthContext& context, Right right) {
    if (credentials_ == nullptr) {
      if (right != Right::kOperate) return std::optional<std::string>();
      return InvalidArgument(
          "a run without keys cannot be changed; the operator's certificate is needed, and without keys "
          "anybody could claim to be the operator");
    }
    const std::string certificate = PeerCertificate(context);
    TRIBUTARY_ASSIGN_OR_RETURN(Party party, PartyInCertificate(certificate));
    (void)Refresh();  // KeepHouse reports what cannot be read
    TRIBUTARY_RETURN_IF_ERROR(Check(certificate));
    TRIBUTARY_RETURN_IF_ERROR(CheckRight(party, right));
    return std::optional(std::move(party.name));
  }
  // Reads keys and list again if they have changed. Returns a warning for the log if they cannot be read or the list
  // expires soon, else an empty string.
  std::string Refresh() {
    if (credentials_ == nullptr) return "";
    const Status keys = credentials_->Refresh();
    const std::string complaint =
        keys.ok() ? "" : "the keys as they were before stay in use: " + keys.message();
    if (!revoked_) return complaint;
    if (const std::uint64_t version = credentials_->version(); trusted_.exchange(version) != version) {
      const Status trusted = revoked_->Trust(credentials_->Get().authority_pem);
      if (!trusted.ok()) return trusted.message();
    }
    const Status status = revoked_->Refresh();
    if (!status.ok()) return "the old revocation list stays in force: " + status.message();
    return complaint.empty() ? revoked_->Warning() : complaint;
  }
  Status Check(const std::string& certificate) const {
    if (credentials_ == nullptr) return OkStatus();
    const auto now = std::chrono::duration_cast<std::chrono::seconds>(wall_clock_()).count();
    TRIBUTARY_RETURN_IF_ERROR(CheckNotExpired(certificate, now));
    return revoked_ ? revoked_->Check(certificate) : OkStatus();
  }
  // The lists in force, for devices.
  std::string Revocations() const { return revoked_ ? revoked_->Text() : ""; }

 private:
  LiveCredentials* const credentials_;
  const std::unique_ptr<RevocationList> revoked_;
  const WallClock wall_clock_;
  std::atomic<std::uint64_t> trusted_ = 0;  // version of the credentials that the list knows
};

// Empty without a certificate, or if it cannot be read.
std::string SerialOf(const std::string& certificate) {
  auto serial = certificate.empty() ? StatusOr<std::string>(std::string()) : SerialInCertificate(certificate);
  return serial.ok() ? *std::move(serial) : std::string();
}

// A device's stream. It lives until gRPC and the Exchange have released it.
class Stream : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
               public Connection,
               public std::enable_shared_from_this<Stream> {
 public:
  Stream(Exchange& exchange, Gate& gate, SecureServer& server, grpc::CallbackServerContext* context)
      : exchange_(exchange),
        gate_(gate),
        server_(server),
        context_(context),
        certificate_(PeerCertificate(*context->auth_context())) {}

  void Begin() {
    self_ = shared_from_this();
    auto identity = gate_.Admit(*context_->auth_context(), Right::kTakePart);
    auto traffic =
        identity.ok() ? server_.Prove(context_->peer(), identity->value_or("")) : identity.status();
    if (!traffic.ok()) {
      exchange_.Record("rejected", {{"address", context_->peer()},
                                    {"certificate", certificate()},
                                    {"reason", traffic.status().message()}});
      return End(ToGrpc(traffic.status()));
    }
    traffic_ = *std::move(traffic);
    traffic_->TookRareCall();
    auto session = exchange_.Open(self_, std::move(*identity), context_->peer());
    if (!session.ok()) return End(ToGrpc(session.status()));
    {
      const MutexLock lock(mutex_);
      session_ = *session;
    }
    StartRead(&incoming_);
  }

  void OnReadDone(bool ok) override {
    if (!ok) return End(grpc::Status::OK);
    // One per gRPC thread, of which there are few, not one per device.
    thread_local Frame frame;
    traffic_->Took(incoming_.Length());
    Status status = ReadFrame(incoming_, frame);
    incoming_.Clear();
    auto message = status.ok() ? ParseFromDevice(frame.fields) : StatusOr<FromDevice>(std::move(status));
    status = message.ok() ? exchange_.Receive(*session_, *message, frame.values())
                          : exchange_.Refuse(*session_, message.status());
    if (!status.ok()) return End(ToGrpc(status));
    StartRead(&incoming_);
  }

  void OnWriteDone(bool ok) override {
    {
      const MutexLock lock(mutex_);
      writing_ = false;
      outgoing_.Clear();  // idle streams hold no memory
      if (!ok && !ending_) ending_ = grpc::Status::OK;
    }
    WriteNext();
  }

  void OnCancel() override { End(grpc::Status::CANCELLED); }

  void OnDone() override {
    if (session_) exchange_.Closed(*session_);
    session_.reset();
    self_.reset();  // may be the last reference
  }

  void Wake() override { WriteNext(); }
  Status StillAdmitted() const override { return gate_.Check(certificate_); }
  std::string certificate() const override { return SerialOf(certificate_); }
  void Close(const Status& reason) override {
    {
      const MutexLock lock(mutex_);
      // The reason follows what is being sent. If the peer does not read that, Sessions::Inspect closes the stream again.
      if (writing_ && exchange_.clock().Now() - writing_since_ > kMostTimeToWrite) context_->TryCancel();
    }
    End(reason.ok() ? grpc::Status::OK : ToGrpc(reason));
  }

 private:
  // The final status is sent when no write is in progress.
  void End(grpc::Status status) {
    {
      const MutexLock lock(mutex_);
      if (!ending_) ending_ = std::move(status);
    }
    WriteNext();
  }

  void WriteNext() {
    const MutexLock lock(mutex_);
    if (writing_ || ended_) return;
    if (ending_) {
      ended_ = true;
      Finish(*ending_);
      return;
    }
    // The session is still being opened.
    if (!session_) return;
    const bool any = exchange_.Next(*session_, [&](const ToDevice& message, ByteSpan values) {
      mutex_.AssertHeld();
      outgoing_ = MakeBuffer(Format(message), values);
    });
    if (!any) return;
    writing_ = true;
    writing_since_ = exchange_.clock().Now();
    StartWrite(&outgoing_);
  }

  Exchange& exchange_;
  Gate& gate_;
  SecureServer& server_;
  grpc::CallbackServerContext* const context_;
  const std::string certificate_;
  std::shared_ptr<Stream> self_;
  // Set with the lock held before the first read, reset after everything else.
  std::shared_ptr<Exchange::Session> session_;
  std::shared_ptr<Listener::Traffic> traffic_;
  grpc::ByteBuffer incoming_;

  Mutex mutex_;
  grpc::ByteBuffer outgoing_ TRIBUTARY_GUARDED_BY(mutex_);
  bool writing_ TRIBUTARY_GUARDED_BY(mutex_) = false;
  TimePoint writing_since_ TRIBUTARY_GUARDED_BY(mutex_){0};
  std::optional<grpc::Status> ending_ TRIBUTARY_GUARDED_BY(mutex_);
  bool ended_ TRIBUTARY_GUARDED_BY(mutex_) = false;
};

void Describe(const Member& member, TimePoint now, pb::FleetState::Device& device) {
  device.set_id(member.profile.id.value);
  device.set_name(member.name);
  device.set_state(std::string(NameOf(member.doing)));
  device.set_state_seconds(ToSeconds(now - member.since));
  device.set_address(member.address);
  device.set_advertised(member.advertised);
  device.set_build(member.build);
  device.set_samples(member.profile.samples);
  device.set_macs_per_second(member.profile.compute.value);
  device.set_up_bits_per_second(member.profile.uplink.value);
  device.set_down_bits_per_second(member.profile.downlink.value);
  device.set_round_trip_seconds(ToSeconds(member.profile.round_trip));
  device.set_memory_bytes(static_cast<double>(member.profile.memory.value));
  device.set_threads(member.threads);
  device.set_applied(member.applied);
  device.set_missed(member.missed);
  device.set_streams(member.streams);
  if (member.stream_rate) device.set_samples_per_second(member.stream_rate->value);
  device.set_buffered(static_cast<std::uint64_t>(member.buffered));
}

}  // namespace

struct GrpcServer::State {
  State(ServerOptions options, Exchange& the_exchange)
      : exchange(the_exchange), experiment(std::move(options.experiment)), rounds(options.rounds) {
    if (options.credentials) credentials.emplace(std::move(*options.credentials));
  }

  // Checks for stalled connections, and for new keys and revocations.
  void KeepHouse() {
    MutexLock lock(mutex);
    while (!stop) {
      wake.WaitFor(lock, std::chrono::milliseconds(500));
      if (stop) return;
      lock.Unlock();
      if (std::string now = gate->Refresh(); now != complaint) {
        complaint = std::move(now);
        if (!complaint.empty()) Log(LogLevel::kWarning, complaint);
      }
      exchange.SetRevocations(gate->Revocations());
      exchange.Tick();
      lock.Lock();
    }
  }

  LiveCredentials* live() { return credentials ? &*credentials : nullptr; }

  Exchange& exchange;
  const std::string experiment;
  const std::uint64_t rounds;
  std::optional<LiveCredentials> credentials;
  std::optional<Gate> gate;
  std::atomic<std::uint64_t> round = 0;
  std::unique_ptr<SecureServer> server;
  Mutex mutex;
  Condition wake;
  bool stop TRIBUTARY_GUARDED_BY(mutex) = false;
  std::string complaint;
  std::thread housekeeping;
};

class GrpcServer::Service
    : public pb::Fleet::WithRawCallbackMethod_Join<
          pb::Fleet::WithCallbackMethod_Watch<pb::Fleet::WithCallbackMethod_Operate<pb::Fleet::Service>>> {
 public:
  explicit Service(State& state) : state_(state) {}

  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* Join(
      grpc::CallbackServerContext* context) override {
    auto stream = std::make_shared<Stream>(state_.exchange, *state_.gate, *state_.server, context);
    stream->Begin();
    return stream.get();
  }

  grpc::ServerUnaryReactor* Watch(grpc::CallbackServerContext* context, const pb::WatchRequest*,
                                  pb::FleetState* fleet) override {
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    reactor->Finish(ToGrpc(Look(*context, *fleet)));
    return reactor;
  }

  grpc::ServerUnaryReactor* Operate(grpc::CallbackServerContext* context, const pb::OperateRequest* request,
                                    pb::OperateReply*) override {
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    reactor->Finish(ToGrpc(Change(*context, *request)));
    return reactor;
  }

 private:
  // A refusal is in the audit log.
  StatusOr<std::optional<std::string>> Admit(const grpc::CallbackServerContext& context, Right right,
                                             const std::string& what) {
    auto identity = state_.gate->Admit(*context.auth_context(), right);
    if (identity.ok()) return identity;
    const std::string certificate = PeerCertificate(*context.auth_context());
    const auto party = certificate.empty() ? StatusOr<Party>(Party{}) : PartyInCertificate(certificate);
    state_.exchange.Record("rejected", {{"device", party.ok() ? party->name : ""},
                                        {"address", context.peer()},
                                        {"certificate", SerialOf(certificate)},
                                        {"reason", what + ": " + identity.status().message()}});
    return identity;
  }

  Status Look(const grpc::CallbackServerContext& context, pb::FleetState& fleet) {
    TRIBUTARY_RETURN_IF_ERROR(Admit(context, Right::kWatch, "asks for the state of the fleet").status());
    fleet.set_experiment(state_.experiment);
    fleet.set_round(state_.round);
    fleet.set_rounds(state_.rounds);
    Exchange& exchange = state_.exchange;
    const TimePoint now = exchange.clock().Now();
    for (const Member& member : exchange.members()) {
      pb::FleetState::Device& device = *fleet.add_devices();
      Describe(member, now, device);
      if (const auto plan = exchange.PlanOf(member.profile.id)) {
        device.set_pull_segments(static_cast<std::uint32_t>(plan->plan.pull.size()));
        device.set_push_segments(static_cast<std::uint32_t>(plan->plan.push.size()));
        device.set_planned_seconds(plan->plan.predicted);
        device.set_replanned(plan->replanned);
      }
    }
    return OkStatus();
  }

  Status Change(const grpc::CallbackServerContext& context, const pb::OperateRequest& asked) {
    TRIBUTARY_ASSIGN_OR_RETURN(const auto identity,
                               Admit(context, Right::kOperate, "asks for " + Clean(asked.verb(), 80)));
    const auto verb = std::ranges::find(kOperatorVerbs, asked.verb());
    if (verb == std::end(kOperatorVerbs)) {
      return InvalidArgument("the coordinator knows no request '" + asked.verb() +
                             "'; install the same version on both sides");
    }
    const OperatorRequest request{static_cast<OperatorRequest::Kind>(verb - std::begin(kOperatorVerbs)),
                                  asked.device(), asked.quorum()};
    const std::string what =
        request.kind == OperatorRequest::Kind::kQuorum ? std::to_string(request.quorum) : request.device;
    Log(LogLevel::kInfo, fmt::format("'{}' at {}: {} {}", *identity, context.peer(), asked.verb(), what));
    Status status = state_.exchange.Operate(request);
    state_.exchange.Record("operator", {{"request", asked.verb() + " " + what},
                                        {"operator", *identity},
                                        {"address", context.peer()},
                                        {"certificate", SerialOf(PeerCertificate(*context.auth_context()))},
                                        {"outcome", status.ok() ? "done" : status.message()}});
    return status;
  }

  State& state_;
};

StatusOr<std::unique_ptr<GrpcServer>> GrpcServer::Start(ServerOptions options, Exchange& exchange) {
  std::unique_ptr<RevocationList> revoked;
  if (options.credentials && !options.revoked.empty()) {
    TRIBUTARY_ASSIGN_OR_RETURN(
        revoked, RevocationList::Load(options.revoked, options.credentials->authority_pem,
                                      {.wall_clock = options.wall_clock, .newest = options.revoked_newest}));
  }
  const std::string listen = options.listen;
  const WallClock wall_clock = options.wall_clock;
  auto state = std::make_unique<State>(std::move(options), exchange);
  State* const raw = state.get();
  state->gate.emplace(state->live(), std::move(revoked), wall_clock);
  exchange.SetRevocations(state->gate->Revocations());
  TRIBUTARY_ASSIGN_OR_RETURN(state->server, SecureServer::Make(listen, state->live(), kLargestMessage, [raw] {
                               return std::make_unique<Service>(*raw);
                             }));
  TRIBUTARY_RETURN_IF_ERROR(state->server->Start());
  state->housekeeping = std::thread([raw] { raw->KeepHouse(); });
  return std::unique_ptr<GrpcServer>(new GrpcServer(std::move(state)));
}

GrpcServer::GrpcServer(std::unique_ptr<State> state) : state_(std::move(state)) {}

GrpcServer::~GrpcServer() {
  {
    const MutexLock lock(state_->mutex);
    state_->stop = true;
  }
  state_->wake.NotifyAll();
  state_->housekeeping.join();
  state_->server->Stop();
}

int GrpcServer::port() const { return state_->server->port(); }
void GrpcServer::set_round(std::uint64_t round) { state_->round = round; }

}  // namespace tributary::inline rpc
