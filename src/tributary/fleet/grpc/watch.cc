#include "tributary/fleet/grpc/watch.h"

#include <tributary/v1/fleet.grpc.pb.h>

#include <algorithm>
#include <cmath>

#include "tributary/fleet/grpc/grpc_settings.h"

namespace tributary::inline rpc {
namespace {

// Ensures that a coordinator's value is a number that fits a table.
double Tame(double value) { return std::isfinite(value) ? std::clamp(value, 0.0, 1e18) : 0; }

// One call, with a time limit.
template <typename Call>
Status CallCoordinator(const std::string& address, const std::optional<Credentials>& credentials,
                       const std::string& coordinator, const Call& call) {
  const GrpcLife life;
  const auto channel = Dial(address, credentials, coordinator);
  TRIBUTARY_RETURN_IF_ERROR(AwaitConnection(*channel, address, {}));
  const auto stub = v1::Fleet::NewStub(channel);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
  const grpc::Status status = call(*stub, &context);
  return status.ok() ? OkStatus() : FromGrpc(status);
}

}  // namespace

Status OperateFleet(const std::string& address, const std::optional<Credentials>& credentials,
                    const OperatorRequest& request, const std::string& coordinator) {
  v1::OperateRequest message;
  message.set_verb(std::string(NameOf(request.kind)));
  message.set_device(request.device);
  message.set_quorum(request.quorum);
  return CallCoordinator(address, credentials, coordinator, [&](auto& stub, auto* context) {
    v1::OperateReply reply;
    return stub.Operate(context, message, &reply);
  });
}

StatusOr<WatchedFleet> WatchFleet(const std::string& address, const std::optional<Credentials>& credentials,
                                  const std::string& coordinator) {
  v1::FleetState state;
  TRIBUTARY_RETURN_IF_ERROR(
      CallCoordinator(address, credentials, coordinator,
                      [&](auto& stub, auto* context) { return stub.Watch(context, {}, &state); }));
  WatchedFleet fleet{state.experiment(), state.round(), state.rounds(), {}};
  for (const auto& from : state.devices()) {
    WatchedDevice device;
    device.profile.id = DeviceId{from.id()};
    device.profile.compute = {Tame(from.macs_per_second())};
    device.profile.uplink = {Tame(from.up_bits_per_second())};
    device.profile.downlink = {Tame(from.down_bits_per_second())};
    device.profile.round_trip = FromSeconds(std::min(1e6, Tame(from.round_trip_seconds())));
    device.profile.memory = Bytes{static_cast<std::int64_t>(Tame(from.memory_bytes()))};
    device.profile.samples = from.samples();
    device.name = from.name();
    device.state = from.state();
    device.state_time = FromSeconds(std::min(1e9, Tame(from.state_seconds())));
    device.address = from.address();
    device.advertised = from.advertised();
    device.build = from.build();
    device.threads = from.threads();
    device.applied = from.applied();
    device.missed = from.missed();
    device.pull_segments = from.pull_segments();
    device.push_segments = from.push_segments();
    device.planned = FromSeconds(std::clamp(from.planned_seconds(), 0.0, 1e8));
    device.replanned = from.replanned();
    device.streams = from.streams();
    device.samples_per_second = Tame(from.samples_per_second());
    device.buffered = from.buffered();
    fleet.devices.push_back(std::move(device));
  }
  return fleet;
}

}  // namespace tributary::inline rpc
