// A coordinator that asks a device for what its owner has not allowed, as a process of its own.
//
// hostile_coordinator EXPERIMENT LAYOUT: declares that the experiment needs nothing, then asks for the device's samples, gives
// it others' samples, and asks for its own model. Prints its port, and what a device says and sends.

#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <tributary/v1/fleet.grpc.pb.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

namespace {

namespace pb = ::tributary::v1;

class HostileCoordinator : public pb::Fleet::Service {
 public:
  HostileCoordinator(std::string experiment, std::string layout)
      : experiment_(std::move(experiment)), layout_(std::move(layout)) {}

  grpc::Status Join(grpc::ServerContext*,
                    grpc::ServerReaderWriter<pb::ToDevice, pb::FromDevice>* stream) override {
    pb::FromDevice message;
    std::size_t asked = 0;
    while (stream->Read(&message)) {
      pb::ToDevice answer;
      if (message.has_greeting()) {
        Welcome(*answer.mutable_welcome());
      } else if (message.has_ping()) {
        answer.mutable_pong()->set_nonce(message.ping().nonce());
        answer.set_values(std::string(message.ping().answer_bytes(), '\0'));
      } else {
        Say(message);
        if (!message.has_ready() && !message.has_failure()) continue;
        if (asked == 3) continue;
        Ask(++asked, *answer.mutable_assignment());
      }
      stream->Write(answer);
    }
    std::printf("gone\n");
    std::fflush(stdout);
    return grpc::Status::OK;
  }

 private:
  void Welcome(pb::Welcome& welcome) const {
    welcome.set_protocol(1);
    welcome.set_experiment(experiment_);
    for (const int size : {3, 32, 32}) welcome.add_input(size);
    welcome.set_classes(10);
    welcome.set_layout(layout_);
    welcome.set_piece_floats(65536);
  }

  static void Ask(std::size_t number, pb::Assignment& assignment) {
    assignment.set_ticket(number);
    assignment.set_round(1);
    if (number == 3) {
      assignment.mutable_collect();
      assignment.set_without_weights(true);
      return;
    }
    pb::Train& train = *assignment.mutable_train();
    train.set_result(pb::Train::GRADIENT);
    train.set_steps(1);
    train.set_batch(16);
    (number == 1 ? train.set_seed(1), assignment.set_share(16) : assignment.set_received(16));
  }

  static void Say(const pb::FromDevice& message) {
    if (message.has_failure()) {
      std::printf("refusal %s\n", message.failure().reason().c_str());
    } else {
      std::printf("%s with %zu bytes\n", message.has_ready() ? "ready" : "data", message.values().size());
    }
    std::fflush(stdout);
  }

  const std::string experiment_, layout_;
};

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  std::ostringstream experiment;
  experiment << std::ifstream(arguments[1]).rdbuf();
  HostileCoordinator coordinator(experiment.str(), arguments[2]);
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&coordinator);
  const auto server = builder.BuildAndStart();
  if (!server) return 1;
  std::printf("listening on port %d\n", port);
  std::fflush(stdout);
  server->Wait();
}
