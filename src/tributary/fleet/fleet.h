#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/status.h"
#include "tributary/fleet/assignment.h"
#include "tributary/fleet/cut_server.h"
#include "tributary/fleet/profile.h"
#include "tributary/fleet/report.h"

namespace tributary {

// A contiguous piece of an update: some of its values, from `offset` on.
struct UpdatePiece {
  UpdatePart part = UpdatePart::kParameters;
  std::size_t offset = 0;
  std::span<const float> values;
};

// Takes the updates of a round, whole or piece by piece as they arrive. May be called from several threads at once, in
// any order: whoever implements it must give the same result for every order.
class UpdateSink {
 public:
  virtual ~UpdateSink() = default;

  // Takes a whole update. A Status refuses it and nothing else; it leaves no trace.
  virtual Status Accept(DeviceId device, const Update& update) = 0;

  // Takes a piece of an update that weighs `weight`, or refuses it without a trace. The weight is the same for all
  // pieces of an update, and no element may come twice; the caller sees to both, and to it that the weights of all
  // updates stay within what was expected.
  virtual Status Add(DeviceId device, double weight, const UpdatePiece& piece) = 0;
  // Takes back what Add took, exactly, as if it had never come: for an update that is not completed.
  virtual void Retract(DeviceId device, double weight, const UpdatePiece& piece) = 0;
};

// Whom to ask, from which weights they start, and how long to wait for them.
struct Inquiry {
  RoundId round;
  std::vector<DeviceId> participants;  // each once
  SharedWeights weights;               // must stay as they are until the answers are in
  // It ends when every participant has answered or is known to be gone; with a deadline, also then. But before `quorum`
  // have answered (of real devices only answers that were taken count) it goes on, past the deadline and for those that
  // are gone and may come back.
  std::optional<Duration> deadline;
  std::size_t quorum = 0;
};

// Whom a device averages its model with after its local steps, and how much that one's counts. What all of them leave of one
// is its own.
struct Meeting {
  DeviceId peer;
  double weight = 0;  // above 0
  friend bool operator==(const Meeting&, const Meeting&) = default;
};

struct RoundRequest : Inquiry {
  TrainAssignment assignment;
  // Where devices' batches differ: how many samples each participant takes, instead of the assignment's batch.
  std::vector<std::size_t> batches;

  // Of its batch, how many samples each participant is to share: the first ones go to the coordinator with its update,
  // and in the next round with the weights to everyone asked but their owner, who trains on them as if they were the
  // last of its own batch. What comes with an update that did not arrive is not shared. Empty: none.
  std::vector<std::size_t> share;
  std::size_t ShareOf(std::size_t participant) const { return share.empty() ? 0 : share[participant]; }

  // Where the network is cut: the coordinator's part of it, and where each participant's batch begins
  // (TrainAssignment::first), or none if each reads on in its own data. Weights and updates are then those of what devices
  // have.
  CutServer* server = nullptr;
  std::vector<std::int64_t> first;

  // Where devices have models of their own (TrainAssignment::Answer::kMeeting): whom each participant meets, by rising
  // number, and only participants. Who meets whom is mutual. One that does not come is left out, and its weight is the
  // device's own.
  std::vector<std::vector<Meeting>> meetings;
  std::size_t BatchOf(std::size_t participant) const {
    return batches.empty() ? assignment.batch : batches[participant];
  }
};

// The one seam between real and simulated: a number of devices that can be given work. Both kinds run the same device
// code; only who supplies time and transport differs. One caller at a time.
class Fleet {
 public:
  virtual ~Fleet() = default;

  // Waits until there is somebody to ask, and brings devices() up to date. Cancelled if the run is to stop instead.
  virtual Status Gather() = 0;
  // All that ever were there, as Gather found them.
  virtual std::span<const DeviceProfile> devices() const = 0;
  // Whether that device can be asked now. One that cannot may still come back in time.
  virtual bool Present(DeviceId device) const = 0;
  // The time the fleet lives in, virtual or real.
  virtual const Clock& clock() const = 0;

  // How fast this device's samples arrive, as measured; nothing if they do not, or nobody knows yet.
  virtual std::optional<SamplesPerSecond> StreamRate(DeviceId) const { return std::nullopt; }

  // How many samples devices have shared in the last round (RoundRequest::share), for the next.
  virtual std::size_t Shared() const { return 0; }

  // Runs one round of training. Updates go to `sink` while it lasts; every participant has a report at the end.
  // Fails only if the fleet itself fails, or with Cancelled if the run is to stop: what goes wrong on a device is its
  // outcome.
  virtual StatusOr<RoundReport> Train(const RoundRequest& request, UpdateSink& sink) = 0;

  // Where devices have models of their own: hands each participant's to `sink`, with a weight of one, as it was after the last
  // round that counts. Those that are not there, or have none, are left out; the number of the others is returned.
  virtual StatusOr<std::size_t> Collect(const Inquiry&, UpdateSink&) {
    return InvalidArgument("these devices have no models of their own");
  }

  // What Train of this round brought is in the model: what devices remember of it stands, and would otherwise be as if
  // it had never been.
  virtual void Counted(RoundId) {}

  // Sums over the samples that these devices hold out; one whose answer does not come adds nothing.
  virtual StatusOr<EvaluationTotals> Evaluate(const EvaluateAssignment& assignment,
                                              const Inquiry& inquiry) = 0;
  virtual StatusOr<Moments> Calibrate(const CalibrateAssignment& assignment, const Inquiry& inquiry) = 0;
};

}  // namespace tributary
