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

// An order has one work item for each participant.
inline WorkId WorkOf(DeviceId device) { return WorkId{device.value}; }
inline std::string NameUpdate(DeviceId device) {
  return "the update of device " + std::to_string(device.value);
}

// A neighbour for a device's gossip average, and its weight. The device's own weight is 1 minus the sum.
struct NeighbourWeight {
  DeviceId peer;
  double weight = 0;  // above 0
  friend bool operator==(const NeighbourWeight&, const NeighbourWeight&) = default;
};

// Work that is dispatched to some devices together. The order and the device determine what the device does.
struct WorkOrder {
  RoundId round;
  std::vector<DeviceId> participants;  // no duplicates
  SharedWeights weights;               // initial weights for all participants
  std::shared_ptr<const void> lease;   // keeps the weights valid; null if the caller does
  Work work = TrainAssignment{};

  // For the caller, which closes the order (SynchronousRound), and for the fleet: devices are told the time
  // left, and those that wait at the split point wait until the deadline, and past it for a quorum.
  std::optional<Duration> deadline;
  std::size_t quorum = 0;

  // For training only.
  const TrainAssignment& training() const { return std::get<TrainAssignment>(work); }
  TrainAssignment& training() { return std::get<TrainAssignment>(work); }

  // Batch size of each participant, in place of the assignment's batch. Empty: the same for all.
  std::vector<std::size_t> batches;
  std::size_t BatchOf(std::size_t participant) const {
    return batches.empty() ? training().batch : batches[participant];
  }

  // The number of samples of its batch that each participant shares. The first samples go to the coordinator
  // with the update, and in the next round to all other participants, which train on them as the last samples
  // of their batch. Samples of an update that did not arrive are not shared. Empty: none.
  std::vector<std::size_t> share;
  std::size_t ShareOf(std::size_t participant) const { return share.empty() ? 0 : share[participant]; }

  // Split networks: the server part, and where each participant's batch begins (TrainAssignment::first);
  // empty if each device continues in its own data. Weights and updates are then those of the client part.
  SplitServer* server = nullptr;
  std::vector<std::int64_t> first;

  // Gossip (TrainAssignment::Answer::kGossip): each participant's neighbours, in ascending order. Neighbours
  // are participants, and the relation is symmetric. An absent neighbour's weight goes to the device itself.
  std::vector<std::vector<NeighbourWeight>> neighbours;
};

struct FleetEvent {
  enum class Kind {
    kCompleted,  // the device's answer was accepted
    kFailed,     // the device will not complete: it was refused, gave up, or is gone for good
    kLost,       // the device has been gone for longer than the grace period; it may return
    kReturned,   // a lost device is back
    kReleased,   // the devices that waited at the split point go on: the deadline restarts now
    kQuorum,     // an operator has changed the members or the quorum: `quorum` holds from now on
    kTimer,      // the timer passed to Next has expired
    kIdle,       // nothing more will happen (only simulated fleets can know)
  };
  TimePoint at{0};  // on the fleet's clock; not after now
  Kind kind = Kind::kIdle;
  DeviceId device = {};  // of the first four kinds
  std::size_t quorum = 0;
};

// The only interface between real and simulated. Both kinds of fleet run the same device code; only time and
// transport differ. Rounds are a policy (synchronous_round.h). One caller and one open order at a time.
//
//   1. Gather
//   2. Dispatch an order
//   3. Next, repeatedly
//   4. Close the order, and if its answers were applied, Commit
class Fleet {
 public:
  virtual ~Fleet() = default;

  // Waits until a device can be given work, and updates devices(). Cancelled if the run is to stop instead.
  virtual Status Gather() = 0;
  // All devices that have ever joined, as of the last Gather.
  virtual std::span<const DeviceProfile> devices() const = 0;
  // Whether the device can be given work now. An absent device may still come back in time.
  virtual bool Present(DeviceId device) const = 0;
  // The fleet's time, virtual or real.
  virtual const Clock& clock() const = 0;

  // The measured arrival rate of this device's samples; nothing if unknown or without a stream.
  virtual std::optional<SamplesPerSecond> StreamRate(DeviceId) const { return std::nullopt; }

  // The quorum that an operator has set instead of the experiment's.
  virtual std::optional<std::size_t> quorum() const { return std::nullopt; }

  // The number of samples that devices shared in the last round (WorkOrder::share), for the next round.
  virtual std::size_t Shared() const { return 0; }

  // Starts the work. `sink` takes updates and collected models until Close returns; null for other work.
  virtual Status Dispatch(WorkOrder order, UpdateSink* sink) = 0;

  // Waits for the next event, at most until `timer`. A Status means that the fleet itself failed, or
  // Cancelled that the run is to stop; a device's failure is an event. The order must still be closed.
  virtual StatusOr<FleetEvent> Next(std::optional<TimePoint> timer) = 0;

  // Cancels and discards what is not complete, and reports on every participant. A complete answer counts
  // even if Next has not reported it. A simulated fleet may compute all answers only in this call, and so
  // refuse one that Next reported as completed. After an error the sink's content is unusable.
  virtual StatusOr<RoundReport> Close() = 0;

  // The answers of this round are in the model. Device state of rounds never committed is rolled back.
  virtual void Commit(RoundId) {}

  // The model is that of an earlier round again: devices start anew with what they carry over from round to round, what
  // they shared is forgotten, and `quarantined` leave the run: they take part in nothing until an operator admits them. Between orders.
  virtual void RollBack(std::span<const DeviceId> quarantined) = 0;
  // Number of devices in quarantine.
  virtual std::size_t quarantined() const { return 0; }
};

}  // namespace tributary::inline fleet
