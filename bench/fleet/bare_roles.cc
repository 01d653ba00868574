// The cost of gRPC alone for the same bytes over the same TLS: one stream per device. Messages are sent
// without a copy and discarded on arrival.

#include <grpcpp/create_channel.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <vector>

#include "role.h"
#include "tributary/fleet/grpc/grpc_settings.h"
#include "tributary/keys/party_name.h"

namespace tributary::bench {
namespace {

constexpr std::size_t kMessageBytes = 256 << 10;

// A model in memory, as messages.
class Payload {
 public:
  explicit Payload(std::int64_t parameters) : values_(static_cast<std::size_t>(parameters)) {
    for (std::size_t i = 0; i < values_.size(); ++i) values_[i] = 1e-6F * static_cast<float>(i % 1000);
  }
  std::size_t bytes() const { return values_.size() * sizeof(float); }
  grpc::ByteBuffer Message(std::size_t begin) const {
    const grpc::Slice slice(reinterpret_cast<const char*>(values_.data()) + begin,
                            std::min(kMessageBytes, bytes() - begin), grpc::Slice::STATIC_SLICE);
    return grpc::ByteBuffer(&slice, 1);
  }

 private:
  std::vector<float> values_;
};

class ServerStream;

// The connected streams and their progress.
class Gathering {
 public:
  explicit Gathering(const Payload& payload) : payload(payload) {}

  void Join(ServerStream* stream) {
    const std::lock_guard lock(mutex_);
    streams_.push_back(stream);
    changed_.notify_all();
  }
  void Complete() {
    const std::lock_guard lock(mutex_);
    ++complete_;
    changed_.notify_all();
  }
  void Await(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return streams_.size() == count; });
  }
  void Round();
  void End();

  const Payload& payload;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<ServerStream*> streams_;
  std::size_t complete_ = 0;
};

class ServerStream : public grpc::ServerGenericBidiReactor {
 public:
  explicit ServerStream(Gathering& gathering) : gathering_(gathering) {
    StartRead(&incoming_);
    gathering_.Join(this);
  }
  void Send() {
    sent_ = received_ = 0;
    Write();
  }
  void End() { Finish(grpc::Status::OK); }

 private:
  void Write() {
    outgoing_ = gathering_.payload.Message(sent_);
    StartWrite(&outgoing_);
  }
  void OnWriteDone(bool ok) override {
    sent_ += outgoing_.Length();
    if (ok && sent_ < gathering_.payload.bytes()) Write();
  }
  void OnReadDone(bool ok) override {
    if (!ok) return;
    received_ += incoming_.Length();
    incoming_.Clear();
    if (received_ == gathering_.payload.bytes()) gathering_.Complete();
    StartRead(&incoming_);  // last, since the next message may arrive on another thread
  }
  void OnDone() override { delete this; }

  Gathering& gathering_;
  grpc::ByteBuffer incoming_, outgoing_;
  std::size_t sent_ = 0, received_ = 0;
};

void Gathering::Round() {
  complete_ = 0;
  for (ServerStream* stream : streams_) stream->Send();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return complete_ == streams_.size(); });
}

void Gathering::End() {
  for (ServerStream* stream : streams_) stream->End();
}

class Service : public grpc::CallbackGenericService {
 public:
  explicit Service(Gathering& gathering) : gathering_(gathering) {}
  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext*) override {
    return new ServerStream(gathering_);
  }

 private:
  Gathering& gathering_;
};

// Receives the model and sends it back, repeatedly.
class DeviceStream : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  DeviceStream(const std::shared_ptr<grpc::Channel>& channel, const Payload& payload) : payload_(payload) {
    grpc::GenericStub(channel).PrepareBidiStreamingCall(&context_, "/bare/Stream", grpc::StubOptions(), this);
    StartRead(&incoming_);
    AddHold();
    StartCall();
  }
  grpc::Status Await() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return done_; });
    return status_;
  }

 private:
  void Write() {
    outgoing_ = payload_.Message(sent_);
    StartWrite(&outgoing_);
  }
  void OnWriteDone(bool ok) override {
    sent_ += outgoing_.Length();
    if (ok && sent_ < payload_.bytes()) Write();
  }
  void OnReadDone(bool ok) override {
    if (!ok) return RemoveHold();
    received_ += incoming_.Length();
    incoming_.Clear();
    if (received_ == payload_.bytes()) {
      received_ = sent_ = 0;
      Write();
    }
    StartRead(&incoming_);  // last, since the next message may arrive on another thread
  }
  void OnDone(const grpc::Status& status) override {
    const std::lock_guard lock(mutex_);
    status_ = status;
    done_ = true;
    changed_.notify_all();
  }

  const Payload& payload_;
  grpc::ClientContext context_;
  grpc::ByteBuffer incoming_, outgoing_;
  std::size_t sent_ = 0, received_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  grpc::Status status_;
};

}  // namespace

Status RunBareServer(const Role& role) {
  const std::int64_t before = ProcessBytes("VmRSS:");
  QuietenGrpc();
  TRIBUTARY_ASSIGN_OR_RETURN(const Credentials credentials, LoadCredentials(role.keys / "coordinator"));
  const Payload payload(role.parameters);
  Gathering gathering(payload);
  Service service(gathering);
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", MakeServerCredentials(credentials), &port);
  builder.RegisterCallbackGenericService(&service);
  if (!role.grpc_defaults) SetServerArguments(builder);
  const auto server = builder.BuildAndStart();
  if (!server) return Unavailable("cannot listen on the loopback");
  std::printf("port %d\n", port);
  std::fflush(stdout);
  gathering.Await(role.devices);
  std::printf("ready\n");
  std::fflush(stdout);
  while (AwaitGo()) {
    const auto start = std::chrono::steady_clock::now();
    gathering.Round();
    SayRound(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), role.devices);
  }
  SayMemory(before);
  gathering.End();
  server->Shutdown();
  return OkStatus();
}

Status RunBareDevices(const Role& role) {
  QuietenGrpc();
  const Payload payload(role.parameters);
  std::vector<std::unique_ptr<DeviceStream>> streams;
  for (std::size_t i = 0; i < role.devices; ++i) {
    TRIBUTARY_ASSIGN_OR_RETURN(const Credentials credentials, DeviceKeys(role, i));
    grpc::ChannelArguments arguments = ClientArguments(true, std::string(kCoordinatorName));
    if (role.grpc_defaults) {
      arguments = grpc::ChannelArguments();
      arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // one connection per channel
      arguments.SetSslTargetNameOverride(CertificateHost(kCoordinatorName));
    }
    const auto channel =
        grpc::CreateCustomChannel(role.address, MakeChannelCredentials(credentials), arguments);
    streams.push_back(std::make_unique<DeviceStream>(channel, payload));
  }
  for (const auto& stream : streams) {
    const grpc::Status status = stream->Await();
    if (!status.ok()) return FromGrpc(status);
  }
  return OkStatus();
}

}  // namespace tributary::bench
