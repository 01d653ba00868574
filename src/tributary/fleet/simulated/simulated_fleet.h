#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tributary/fleet/fleet.h"
#include "tributary/fleet/simulated/device_threads.h"
#include "tributary/fleet/simulated/round_clock.h"
#include "tributary/fleet/simulated/simulated_device.h"

namespace tributary::inline simulated {

// A fleet on a virtual clock. Time is charged from the devices' profiles: transfers over their links and the
// shared servers, set-up and round trip per message, and computation as three times the forward pass's
// multiply-accumulates (the backward pass costs two) at the device's current rate. Transfers follow each
// device's plan, and plans follow its measured steps, as with real devices (step_plan.h). A device with a
// stream starts when enough samples have arrived; it keeps unused samples for later.
//
// With compression, a round is charged the size of the device's last update. Compression state takes memory.
//
// Training is real, on a pool of threads with one compute thread each: a run depends on (experiment, seed).
//
// With gossip, models travel between the devices' links, and the servers carry only a message to begin and
// one at the end (meeting_timeline.h). Each device's model takes memory.
//
// An order has one DevicePart per participant. Dispatch plays all parts on the clock (RoundClock), Next
// reports their events, and Close runs the training of devices that arrived or crossed (DeviceThreads).
class SimulatedFleet : public Fleet {
 public:
  explicit SimulatedFleet(SimulatedFleetOptions options);

  Status Gather() override { return OkStatus(); }
  std::span<const DeviceProfile> devices() const override { return options_.profiles; }
  bool Present(DeviceId) const override { return true; }
  const Clock& clock() const override { return clock_.clock(); }
  std::optional<SamplesPerSecond> StreamRate(DeviceId device) const override;
  std::size_t Shared() const override { return shared_.size(); }
  Status Dispatch(WorkOrder order, UpdateSink* sink) override;
  StatusOr<FleetEvent> Next(std::optional<TimePoint> timer) override;
  StatusOr<RoundReport> Close() override;
  void Commit(RoundId round) override;
  void RollBack(std::span<const DeviceId> quarantined) override;
  std::size_t quarantined() const override { return quarantined_; }

  // The coordinator's test set, on the pool's threads; takes no virtual time.
  StatusOr<EvaluationTotals> EvaluateCentrally(const Dataset& dataset, const SharedWeights& weights);
  // The update that the coordinator learns itself, likewise.
  StatusOr<std::vector<float>> TrainCentrally(const TrainAssignment& assignment, const SharedWeights& weights,
                                              const LocalData& data);

 private:
  // An order that was played on the clock.
  struct Open {
    WorkOrder order;
    UpdateSink* sink = nullptr;
    std::vector<DevicePart> parts;  // in the order of the participants
    OrderTimeline timeline;
    std::vector<DeviceReport> gossip;  // gossip only: reports from the clock
  };

  // Each participant's device, work and disturbances.
  std::vector<DevicePart> PartsOf(const WorkOrder& order);
  std::vector<DevicePart> TrainingParts(const WorkOrder& order);
  // The devices' computation when an order is closed, for answers that have arrived.
  Status Train(Open& open, RoundReport& report);
  Status Evaluate(Open& open, RoundReport& report);
  Status Calibrate(Open& open, RoundReport& report);
  Status Collect(Open& open, RoundReport& report);

  SimulatedFleetOptions options_;
  std::vector<SimulatedDevice> devices_;  // by number
  RoundClock clock_;
  DeviceThreads threads_;
  struct SharedSample {
    DeviceId owner;
    std::uint32_t place;  // index in the data set
  };
  std::vector<SharedSample> shared_;  // in the last round
  std::optional<Open> open_;
  std::size_t quarantined_ = 0;
};

}  // namespace tributary::inline simulated
