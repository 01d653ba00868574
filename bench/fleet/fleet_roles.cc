// A Coordinator with a RemoteFleet, and load generators that connect to it.

#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

#include "role.h"
#include "tributary/coordinator/coordinator.h"
#include "tributary/fleet/grpc/device_agent.h"
#include "tributary/fleet/grpc/remote_fleet.h"
#include "tributary/fleet/layout_hash.h"
#include "tributary/fleet/protocol/testing_load_work.h"

namespace tributary::bench {
namespace {

class AppliedCount : public EventSink {
 public:
  void Write(const Event& event) override {
    if (const auto* finished = std::get_if<RoundFinished>(&event.what)) applied_ = finished->applied;
  }
  std::size_t last() const { return applied_; }

 private:
  std::size_t applied_ = 0;
};

Experiment ExperimentOf(const Role& role) {
  Experiment experiment;
  experiment.goal.name = "bench";
  experiment.goal.evaluate_every = 1'000'000'000;
  experiment.model.name = "bench";
  experiment.data.set = "none";
  experiment.train.method = role.momentum ? Method::kSyncSgd : Method::kFederated;
  if (role.momentum) {
    experiment.train.optimiser.momentum = 0.9;
  } else {
    experiment.train.local_steps = 1;  // load generators skip them
  }
  return experiment;
}

}  // namespace

Status RunCoordinator(const Role& role) {
  const std::int64_t before = ProcessBytes("VmRSS:");
  const auto model = BuildModel(role.parameters);
  const Experiment experiment = ExperimentOf(role);
  TRIBUTARY_ASSIGN_OR_RETURN(const Credentials credentials, LoadCredentials(role.keys / "coordinator"));
  RemoteFleetOptions options;
  options.model = model;
  options.experiment = experiment;
  options.samples.shape = model->graph.input_shape();
  options.samples.classes = 2;
  options.build = "bench";
  options.listen = role.listen;
  options.credentials = credentials;
  options.revoked = role.keys / "revoked.pem";
  options.wait_for = role.devices;
  TRIBUTARY_ASSIGN_OR_RETURN(const auto fleet, RemoteFleet::Start(std::move(options)));
  std::printf("port %d\n", fleet->port());
  std::fflush(stdout);

  AppliedCount applied;
  Coordinator coordinator(experiment, model, *fleet, applied, {}, {}, role.spool);
  bool ready = false;
  std::chrono::steady_clock::time_point start;
  const auto no_more_rounds = [&] {
    if (!std::exchange(ready, true)) {
      std::printf("ready\n");
      std::fflush(stdout);
    }
    const bool go = AwaitGo();
    start = std::chrono::steady_clock::now();
    return !go;
  };
  const auto after_round = [&](const CoordinatorState& state) {
    if (state.ending) return OkStatus();
    SayRound(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), applied.last());
    return OkStatus();
  };
  TRIBUTARY_RETURN_IF_ERROR(coordinator.Run(no_more_rounds, after_round).status());
  SayMemory(before);
  fleet->SayFarewell(true);
  return OkStatus();
}

Status RunLoadDevices(const Role& role) {
  const auto model = BuildModel(role.parameters);
  const auto shared = std::make_shared<LoadWork::Shared>();
  shared->parameters = FlatBuffer(model->parameters.size);
  shared->statistics = FlatBuffer(model->statistics.size);
  shared->layout = LayoutHash(*model);
  for (std::size_t i = 0; i < shared->parameters.size(); ++i) {
    shared->parameters.data()[i] = 1e-6F * static_cast<float>(i % 1000);
  }
  std::vector<Status> ends(role.devices);
  std::vector<std::thread> devices;
  for (std::size_t i = 0; i < role.devices; ++i) {
    TRIBUTARY_ASSIGN_OR_RETURN(Credentials credentials, DeviceKeys(role, i));
    AgentOptions options{.join = role.address, .credentials = std::move(credentials)};
    options.build = "bench";
    options.leave_when_done = true;
    options.seed = i;
    devices.emplace_back([&shared, &end = ends[i], options = std::move(options)] {
      LoadWork work(shared);
      end = RunDevice(options, work);
    });
  }
  for (std::thread& device : devices) device.join();
  for (const Status& end : ends) TRIBUTARY_RETURN_IF_ERROR(end);
  return OkStatus();
}

}  // namespace tributary::bench
