#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/status.h"
#include "tributary/fleet/assignment.h"
#include "tributary/fleet/profile.h"
#include "tributary/fleet/report.h"
#include "tributary/fleet/split_wire.h"
#include "tributary/policy/aggregation/aggregator.h"

namespace tributary::inline fleet {

// The work item of a device in an order: an order has one for each participant.
inline WorkId WorkOf(DeviceId device) { return WorkId{device.value}; }
// How messages name its update.
inline std::string NameUpdate(DeviceId device) {
  return "the update of device " + std::to_string(device.value);
}

// A neighbour with which a device averages its model after its local steps, and its weight in the average. The device's own
// weight is 1 minus the sum.
struct NeighbourWeight {
  DeviceId peer;
  double weight = 0;  // above 0
  friend bool operator==(const NeighbourWeight&, const NeighbourWeight&) = default;
};

// Work for some devices, dispatched together. What each device is to do is a function of the order and of the device.
struct WorkOrder {
  RoundId round;
  std::vector<DeviceId> participants;  // each once
  SharedWeights weights;               // that all start from
  std::shared_ptr<const void> lease;   // keeps the weights as they are; null where the caller sees to it
  Work work = TrainAssignment{};

  // When the order is no longer worth waiting for. The caller decides when to close it (SynchronousRound); the fleet needs
  // both values too: devices are told the time left, and where devices wait for each other at the cut of a network they
  // wait until the deadline, and past it for a quorum.
  std::optional<Duration> deadline;
  std::size_t quorum = 0;

  // The rest is for training.
  const TrainAssignment& training() const { return std::get<TrainAssignment>(work); }
  TrainAssignment& training() { return std::get<TrainAssignment>(work); }

  // Where devices' batches differ: how many samples each participant takes, instead of the assignment's batch.
  std::vector<std::size_t> batches;
  std::size_t BatchOf(std::size_t participant) const {
    return batches.empty() ? training().batch : batches[participant];
  }

  // How many samples of its batch each participant shares: the first ones go to the coordinator with its update, and in
  // the next round with the weights to all participants but their owner, which train on them as if they were the last of
  // their own batch. Samples of an update that did not arrive are not shared. Empty: none.
  std::vector<std::size_t> share;
  std::size_t ShareOf(std::size_t participant) const { return share.empty() ? 0 : share[participant]; }

  // Where the network is cut: the coordinator's part of it, and where each participant's batch begins
  // (TrainAssignment::first), or none if each reads on in its own data. Weights and updates are then those of what devices
  // have.
  SplitServer* server = nullptr;
  std::vector<std::int64_t> first;

  // Where devices have models of their own (TrainAssignment::Answer::kMeeting): whom each participant meets, by rising
  // number, and only participants. Who meets whom is mutual. A neighbour that does not come is left out, and its weight is
  // the device's own.
  std::vector<std::vector<NeighbourWeight>> neighbours;
};

// What happened to the order that is open.
struct FleetEvent {
  enum class Kind {
    kCompleted,  // the device's answer was taken
    kFailed,     // the device will not complete: it was refused, it gave up, or it is gone for good
    kLost,       // the device has been gone for longer than is forgiven; it may return
    kReturned,   // a lost device is back
    kReleased,   // the devices that waited at the cut go on: the deadline starts again now
    kQuorum,  // an operator has changed who belongs to the fleet, or how many are needed: `quorum` from now on
    kTimer,   // the time that Next was given has come
    kIdle,    // nothing will happen any more (simulated fleets alone can know)
  };
  TimePoint at{0};  // of the fleet's clock; not after now
  Kind kind = Kind::kIdle;
  DeviceId device = {};  // of the first four
  std::size_t quorum = 0;
};

// The one seam between real and simulated: a number of devices that can be given work. Both kinds run the same device
// code; only time and transport differ. The seam speaks of work and of what becomes of it; rounds are a policy on top
// (synchronous_round.h). One caller at a time.
//
//   1. Gather
//   2. Dispatch an order
//   3. Next, again and again
//   4. Close the order, and if its answers were applied, Commit
class Fleet {
 public:
  virtual ~Fleet() = default;

  // Waits until there is a device that can be given work, and brings devices() up to date. Cancelled if the run is to stop
  // instead.
  virtual Status Gather() = 0;
  // All that ever were there, as Gather found them.
  virtual std::span<const DeviceProfile> devices() const = 0;
  // Whether that device can be asked now. A device that cannot may still come back in time.
  virtual bool Present(DeviceId device) const = 0;
  // The time the fleet lives in, virtual or real.
  virtual const Clock& clock() const = 0;

  // How fast this device's samples arrive, as measured; nothing if they do not, or before it is known.
  virtual std::optional<SamplesPerSecond> StreamRate(DeviceId) const { return std::nullopt; }

  // How many answers an operator has asked for, instead of the experiment's quorum.
  virtual std::optional<std::size_t> quorum() const { return std::nullopt; }

  // How many samples devices have shared in the last round (WorkOrder::share), for the next.
  virtual std::size_t Shared() const { return 0; }

  // Gives the participants their work. Updates of training, and models that are collected, go to `sink` between now and
  // the end of Close; it is null for other work. The sink must live until then. One order is open at a time.
  virtual Status Dispatch(WorkOrder order, UpdateSink* sink) = 0;

  // Waits for what happens next, at most until `timer`. A Status means that the fleet itself fails, or is Cancelled if the
  // run is to stop: what goes wrong on a device is an event. The order must be closed all the same.
  virtual StatusOr<FleetEvent> Next(std::optional<TimePoint> timer) = 0;

  // Cancels what is not completed by now, as if it had never begun, and says what became of every participant. An answer
  // that is complete counts, whether or not Next has told of it. A simulated fleet may put off the devices' computation
  // until here, to do it for all of them together; so an answer may be refused here that Next has called completed. With a
  // Status the sink holds nothing that can be used.
  virtual StatusOr<RoundReport> Close() = 0;

  // The answers of this round are in the model. What devices remember of a round that is never committed is rolled back.
  virtual void Commit(RoundId) {}
};

}  // namespace tributary::inline fleet
