#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tributary/fleet/fleet.h"
#include "tributary/fleet/simulated/device_threads.h"
#include "tributary/fleet/simulated/round_clock.h"
#include "tributary/fleet/simulated/simulated_device.h"

namespace tributary::inline simulated {

// A fleet on a virtual clock. Time is charged from the devices' profiles: transfers over their links and the shared
// servers, set-up and round trip for each message, and computation as three times the forward pass's
// multiply-accumulates (the backward pass costs two) over the rate a device has at the moment. Transfers are cut as each
// device's plan says, and plans follow what its steps cost, as with real devices (step_plan.h). A device with a stream
// starts when the samples it needs have come in since the run began; what it does not use stays for later.
//
// Where updates are compressed, a round is charged the size that the device's last update came to, and the size of the
// new one counts from then on; what devices remember of compression takes memory of its own for each of them.
//
// Learning is real: each device's work is done by the code that a real device runs, on a pool of threads with one
// compute thread each, so a run is a function of (experiment, seed) alone.
//
// Where devices average models of their own with each other's, those travel between the devices' links, and the servers carry
// nothing but a word to begin and one at the end (meeting_timeline.h); each device's model takes memory of its own.
//
// An order has one object for each participant's part in it (DevicePart). Dispatch plays all parts on the clock
// (RoundClock), Next tells of them one after the other, and Close has threads do the computation of those whose answer
// arrived, or who came as far as the cut of a split model (DeviceThreads). Devices have no memory of their own beyond
// their data's indices; threads have.
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

  // The coordinator's own test set, on the pool's threads and in no virtual time.
  StatusOr<EvaluationTotals> EvaluateCentrally(const Dataset& dataset, const SharedWeights& weights);

 private:
  // An order that has been played on the clock.
  struct Open {
    WorkOrder order;
    UpdateSink* sink = nullptr;
    std::vector<DevicePart> parts;  // in the order of the participants
    OrderTimeline timeline;
    std::vector<DeviceReport> gossip;  // where devices average with neighbours: what the clock says of them
  };

  // Each participant's device, what it is to do, and what goes wrong with it.
  std::vector<DevicePart> PartsOf(const WorkOrder& order);
  std::vector<DevicePart> TrainingParts(const WorkOrder& order);
  // Devices' computation, when an order is closed, of what arrived by then.
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
    std::uint32_t place;  // in the data set
  };
  std::vector<SharedSample> shared_;  // in the last round
  std::optional<Open> open_;
};

}  // namespace tributary::inline simulated
