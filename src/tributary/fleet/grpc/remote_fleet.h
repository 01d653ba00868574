#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/wall_clock.h"
#include "tributary/data/dataset.h"
#include "tributary/data/record.h"
#include "tributary/experiment/experiment.h"
#include "tributary/fleet/fleet.h"
#include "tributary/fleet/profile.h"
#include "tributary/fleet/split_wire.h"
#include "tributary/keys/credentials.h"
#include "tributary/model/model.h"

namespace tributary::inline protocol {
class Exchange;
}

namespace tributary::inline rpc {

class GrpcServer;

struct RemoteFleetOptions {
  std::shared_ptr<const Model> model;            // that devices have
  std::optional<SplitWire> cut;                  // if that is not the whole: what goes over the cut
  Experiment experiment;                         // which devices are told
  DatasetInfo samples;                           // shape, classes and normalisation of what the network reads
  SampleElement element = SampleElement::kByte;  // how those are held
  std::string build;
  std::string listen = "127.0.0.1:7070";
  std::optional<Credentials> credentials;    // without them anybody may join
  std::filesystem::path revoked;             // the authority's revocation list; empty for none
  std::filesystem::path revoked_newest;      // a file for the newest list ever accepted; empty for none
  WallClock wall_clock = SystemWallClock();  // for the end of certificates and of the list
  // The first round begins when this many devices are there.
  std::size_t wait_for = 1;
  // How long a device that has gone is waited for, where a round could end without it.
  Duration grace = std::chrono::seconds(10);
  std::uint64_t incarnation = 0;  // random per process of the coordinator
  // Those that belonged to the run before it was interrupted, in their order.
  std::vector<FleetMember> members;
  std::function<bool()> should_stop;
};

// A fleet of real devices that dial in over gRPC, with mutual TLS. Time is the machine's.
class RemoteFleet : public Fleet {
 public:
  // Listens from the moment it is made.
  static StatusOr<std::unique_ptr<RemoteFleet>> Start(RemoteFleetOptions options);
  ~RemoteFleet() override;

  int port() const;
  // All that ever joined, in the order of their numbers.
  std::vector<FleetMember> members() const;
  // What each of them does now: waiting, pulling, computing, pushing, preparing, gone. From any thread.
  std::vector<std::string> states() const;
  // These have been saved, with the model as it was then.
  void MarkDurable(std::span<const FleetMember> saved);

  Status Gather() override;
  std::span<const DeviceProfile> devices() const override { return profiles_; }
  bool Present(DeviceId device) const override;
  std::optional<SamplesPerSecond> StreamRate(DeviceId device) const override {
    return stream_rates_[device.value];
  }
  const Clock& clock() const override { return *clock_; }
  std::size_t Shared() const override;
  Status Dispatch(WorkOrder order, UpdateSink* sink) override;
  StatusOr<FleetEvent> Next(std::optional<TimePoint> timer) override;
  StatusOr<RoundReport> Close() override;
  void Commit(RoundId round) override;

  // Tells the devices that the run is over, or that its coordinator goes away, and waits a moment for them to leave.
  void SayFarewell(bool finished);

 private:
  explicit RemoteFleet(RemoteFleetOptions options);

  const RemoteFleetOptions options_;
  const std::unique_ptr<Clock> clock_;
  std::unique_ptr<Exchange> exchange_;
  std::unique_ptr<GrpcServer> server_;
  std::vector<DeviceProfile> profiles_;
  std::vector<bool> present_;
  std::vector<std::optional<SamplesPerSecond>> stream_rates_;
  bool begun_ = false;
};

}  // namespace tributary::inline rpc
