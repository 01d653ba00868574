#include "tributary/fleet/grpc/server.h"

#include <fmt/format.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <tributary/v1/fleet.grpc.pb.h>

#include <atomic>
#include <thread>

#include "tributary/base/log.h"
#include "tributary/base/mutex.h"
#include "tributary/fleet/grpc/frame.h"
#include "tributary/fleet/grpc/grpc_settings.h"
#include "tributary/fleet/grpc/listener.h"
#include "tributary/fleet/grpc/wire.h"
#include "tributary/keys/party_name.h"
#include "tributary/keys/revocation_list.h"

namespace tributary::inline rpc {
namespace {

namespace pb = ::tributary::v1;

// Authorisation by certificate, its expiry and the revocation list.
class Gate {
 public:
  Gate(bool secure, std::unique_ptr<RevocationList> revoked, WallClock wall_clock)
      : secure_(secure), revoked_(std::move(revoked)), wall_clock_(std::move(wall_clock)) {}

  // The name in the peer's certificate, nothing without TLS; or the reason for refusing it.
  StatusOr<std::optional<std::string>> Identify(const grpc::AuthContext& context) const {
    if (!secure_) return std::optional<std::string>();
    const std::string certificate = PeerCertificate(context);
    TRIBUTARY_ASSIGN_OR_RETURN(std::string name, NameInCertificate(certificate));
    if (revoked_) (void)revoked_->Refresh();  // KeepHouse reports an unreadable list
    TRIBUTARY_RETURN_IF_ERROR(Check(certificate));
    return std::optional(std::move(name));
  }
  bool MayWatch(const std::optional<std::string>& name) const {
    return !secure_ || *name == kCoordinatorName || *name == kOperatorName;
  }
  bool MayOperate(const std::optional<std::string>& name) const { return secure_ && *name == kOperatorName; }
  // Returns a warning for the log if the list cannot be read or expires soon, else an empty string.
  std::string Refresh() {
    if (!revoked_) return "";
    const Status status = revoked_->Refresh();
    return status.ok() ? revoked_->Warning() : "the old revocation list stays in force: " + status.message();
  }
  Status Check(const std::string& certificate) const {
    if (!secure_) return OkStatus();
    const auto now = std::chrono::duration_cast<std::chrono::seconds>(wall_clock_()).count();
    TRIBUTARY_RETURN_IF_ERROR(CheckNotExpired(certificate, now));
    return revoked_ ? revoked_->Check(certificate) : OkStatus();
  }

 private:
  const bool secure_;
  const std::unique_ptr<RevocationList> revoked_;
  const WallClock wall_clock_;
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
  Stream(Exchange& exchange, const Gate& gate, Listener& listener, grpc::CallbackServerContext* context)
      : exchange_(exchange),
        gate_(gate),
        listener_(listener),
        context_(context),
        certificate_(PeerCertificate(*context->auth_context())) {}

  void Begin() {
    self_ = shared_from_this();
    auto identity = gate_.Identify(*context_->auth_context());
    auto traffic =
        identity.ok() ? listener_.Prove(context_->peer(), identity->value_or("")) : identity.status();
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
      // A peer that does not read would delay the reason for ever.
      if (writing_) context_->TryCancel();
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
    StartWrite(&outgoing_);
  }

  Exchange& exchange_;
  const Gate& gate_;
  Listener& listener_;
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
  std::optional<grpc::Status> ending_ TRIBUTARY_GUARDED_BY(mutex_);
  bool ended_ TRIBUTARY_GUARDED_BY(mutex_) = false;
};

}  // namespace

class GrpcServer::Service
    : public pb::Fleet::WithRawCallbackMethod_Join<
          pb::Fleet::WithCallbackMethod_Watch<pb::Fleet::WithCallbackMethod_Operate<pb::Fleet::Service>>> {
 public:
  Service(const ServerOptions& options, Exchange& exchange, std::unique_ptr<RevocationList> revoked,
          Listener& listener)
      : gate(options.credentials.has_value(), std::move(revoked), options.wall_clock),
        exchange_(exchange),
        listener_(listener),
        experiment_(options.experiment),
        rounds_(options.rounds) {}

  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* Join(
      grpc::CallbackServerContext* context) override {
    auto stream = std::make_shared<Stream>(exchange_, gate, listener_, context);
    stream->Begin();
    return stream.get();
  }

  grpc::ServerUnaryReactor* Watch(grpc::CallbackServerContext* context, const pb::WatchRequest*,
                                  pb::FleetState* state) override {
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    reactor->Finish(Look(*context->auth_context(), *state));
    return reactor;
  }

  grpc::ServerUnaryReactor* Operate(grpc::CallbackServerContext* context, const pb::OperateRequest* request,
                                    pb::OperateReply*) override {
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    reactor->Finish(ToGrpc(Change(*context, *request)));
    return reactor;
  }

  Gate gate;
  std::atomic<std::uint64_t> round = 0;

 private:
  grpc::Status Look(const grpc::AuthContext& who, pb::FleetState& state) const {
    const auto identity = gate.Identify(who);
    if (!identity.ok()) return ToGrpc(identity.status());
    if (!gate.MayWatch(*identity)) {
      return {grpc::StatusCode::PERMISSION_DENIED,
              "'" + **identity + "' may not look at the fleet; the operator and the coordinator may"};
    }
    state.set_experiment(experiment_);
    state.set_round(round);
    state.set_rounds(rounds_);
    const TimePoint now = exchange_.clock().Now();
    for (const Member& member : exchange_.members()) {
      pb::FleetState::Device& device = *state.add_devices();
      Describe(member, now, device);
      if (const auto plan = exchange_.PlanOf(member.profile.id)) {
        device.set_pull_segments(static_cast<std::uint32_t>(plan->plan.pull.size()));
        device.set_push_segments(static_cast<std::uint32_t>(plan->plan.push.size()));
        device.set_planned_seconds(plan->plan.predicted);
        device.set_replanned(plan->replanned);
      }
    }
    return grpc::Status::OK;
  }

  Status Change(const grpc::CallbackServerContext& context, const pb::OperateRequest& asked) {
    TRIBUTARY_ASSIGN_OR_RETURN(const auto identity, gate.Identify(*context.auth_context()));
    const std::string serial = SerialOf(PeerCertificate(*context.auth_context()));
    if (!gate.MayOperate(identity)) {
      exchange_.Record("rejected", {{"device", identity.value_or("")},
                                    {"address", context.peer()},
                                    {"certificate", serial},
                                    {"reason", "asks for what only the operator may: " + asked.verb()}});
      return InvalidArgument(identity ? "'" + *identity + "' may not change the run; the operator may"
                                      : "a run without keys cannot be changed; the operator's certificate is "
                                        "needed, and without keys anybody could claim to be the operator");
    }
    const auto verb = std::ranges::find(kOperatorVerbs, asked.verb());
    if (verb == std::end(kOperatorVerbs)) {
      return InvalidArgument("the coordinator knows no request '" + asked.verb() +
                             "'; install the same version on both sides");
    }
    const OperatorRequest request{static_cast<OperatorRequest::Kind>(verb - std::begin(kOperatorVerbs)),
                                  asked.device(), asked.quorum()};
    const std::string what =
        request.kind == OperatorRequest::Kind::kQuorum ? std::to_string(request.quorum) : request.device;
    Log(LogLevel::kInfo, fmt::format("operator at {}: {} {}", context.peer(), asked.verb(), what));
    Status status = exchange_.Operate(request);
    exchange_.Record("operator", {{"request", asked.verb() + " " + what},
                                  {"address", context.peer()},
                                  {"certificate", serial},
                                  {"outcome", status.ok() ? "done" : status.message()}});
    return status;
  }

  static void Describe(const Member& member, TimePoint now, pb::FleetState::Device& device) {
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

  Exchange& exchange_;
  Listener& listener_;
  const std::string experiment_;
  const std::uint64_t rounds_;
};

struct GrpcServer::State {
  // Checks for stalled connections and new revocations.
  void KeepHouse(Exchange& exchange) {
    MutexLock lock(mutex);
    while (!stop) {
      wake.WaitFor(lock, std::chrono::milliseconds(500));
      if (stop) return;
      lock.Unlock();
      if (std::string now = service->gate.Refresh(); now != complaint) {
        complaint = std::move(now);
        if (!complaint.empty()) Log(LogLevel::kWarning, complaint);
      }
      exchange.Tick();
      lock.Lock();
    }
  }

  const GrpcLife life;  // First: destroyed last.
  std::unique_ptr<Service> service;
  std::unique_ptr<grpc::Server> server;
  std::unique_ptr<Listener> listener;
  Mutex mutex;
  Condition wake;
  bool stop TRIBUTARY_GUARDED_BY(mutex) = false;
  std::string complaint;
  std::thread housekeeping;
};

StatusOr<std::unique_ptr<GrpcServer>> GrpcServer::Start(ServerOptions options, Exchange& exchange) {
  QuietenGrpc();
  std::unique_ptr<RevocationList> revoked;
  if (options.credentials && !options.revoked.empty()) {
    TRIBUTARY_ASSIGN_OR_RETURN(
        revoked, RevocationList::Load(options.revoked, options.credentials->authority_pem,
                                      {.wall_clock = options.wall_clock, .newest = options.revoked_newest}));
  }
  auto state = std::make_unique<State>();
  grpc::ServerBuilder builder;
  TRIBUTARY_ASSIGN_OR_RETURN(
      state->listener, Listener::Bind(options.listen, MakeServerCredentials(options.credentials), builder));
  state->service = std::make_unique<Service>(options, exchange, std::move(revoked), *state->listener);
  builder.RegisterService(state->service.get());
  SetServerArguments(builder);
  state->server = builder.BuildAndStart();
  if (!state->server) return Unavailable("gRPC's server does not start");
  state->listener->Start();
  state->housekeeping = std::thread([raw = state.get(), &exchange] { raw->KeepHouse(exchange); });
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
  state_->listener->Stop();
  state_->server->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(1));
  state_->server->Wait();
}

int GrpcServer::port() const { return state_->listener->port(); }
void GrpcServer::set_round(std::uint64_t round) { state_->service->round = round; }

}  // namespace tributary::inline rpc
