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
#include "tributary/fleet/protocol/audit_log.h"
#include "tributary/fleet/split_wire.h"
#include "tributary/keys/credentials.h"
#include "tributary/model/model.h"

namespace tributary::inline protocol {
class Exchange;
}

namespace tributary::inline rpc {

class GrpcServer;

struct RemoteFleetOptions {
  std::shared_ptr<const Model> model;  // the devices' model
  std::optional<SplitWire> cut;        // if `model` is only the client part: what crosses the split point
  Experiment experiment;               // sent to devices
  DatasetInfo samples;                 // shape, classes and normalisation of the network's input
  SampleElement element = SampleElement::kByte;  // element type of the samples
  std::string build;
  std::string listen = "127.0.0.1:7070";
  std::optional<Credentials> credentials;     // without them, anyone may join
  std::filesystem::path revoked;              // the authority's revocation list; empty for none
  std::filesystem::path revoked_newest;       // file for the newest list ever accepted; empty for none
  WallClock wall_clock = SystemWallClock();   // for the expiry of certificates and of the list
  std::size_t wait_for = 1;                   // devices that the first round waits for
  Duration grace = std::chrono::seconds(10);  // for a device that has gone, if a round could end without it
  std::uint64_t incarnation = 0;              // random per process of the coordinator
  std::vector<FleetMember> members;           // of the run before it was interrupted, in their order
  std::function<bool()> should_stop;
  Audit audit = [](std::string_view, const AuditFields&) {};
};

// A fleet of real devices that connect over gRPC, with mutual TLS. Time is real time.
class RemoteFleet : public Fleet {
 public:
  // Listens immediately.
  static StatusOr<std::unique_ptr<RemoteFleet>> Start(RemoteFleetOptions options);
  ~RemoteFleet() override;

  int port() const;
  // All devices that ever joined, in the order of their numbers.
  std::vector<FleetMember> members() const;
  // Each member's state: waiting, pulling, computing, pushing, preparing, gone. Thread-safe.
  std::vector<std::string> states() const;
  // These members have been saved, together with the model.
  void MarkDurable(std::span<const FleetMember> saved);

  Status Gather() override;
  std::span<const DeviceProfile> devices() const override { return profiles_; }
  bool Present(DeviceId device) const override;
  std::optional<SamplesPerSecond> StreamRate(DeviceId device) const override {
    return stream_rates_[device.value];
  }
  const Clock& clock() const override { return *clock_; }
  std::size_t Shared() const override;
  std::optional<std::size_t> quorum() const override;
  Status Dispatch(WorkOrder order, UpdateSink* sink) override;
  StatusOr<FleetEvent> Next(std::optional<TimePoint> timer) override;
  StatusOr<RoundReport> Close() override;
  void Commit(RoundId round) override;
  void RollBack(std::span<const DeviceId> quarantined) override;
  std::size_t quarantined() const override;

  // Tells the devices that the run is over or the coordinator stops; waits briefly for them to leave.
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
