#pragma once

#include <memory>
#include <span>

#include "tributary/base/status.h"
#include "tributary/experiment/experiment.h"
#include "tributary/fleet/fleet.h"

namespace tributary {

struct EpochState;

// What a method that decides who takes part may look at, and where the coordinator's own part of the learning goes.
struct RoundScene {
  std::span<const DeviceProfile> devices;
  SharedWeights weights;
  UpdateSink& sink;
};

// A way of running a round: what the devices are asked, and what becomes of the mean of their answers. One file per
// method. State that must survive (momentum, the schedule's place, the samples planned) is the optimiser's, the
// round's number and the epoch's.
class RoundMethod {
 public:
  virtual ~RoundMethod() = default;

  virtual TrainAssignment Assign(RoundId round) const = 0;
  // How many samples of its batch each participant is to share; empty for none. Batches have been decided.
  virtual std::vector<std::size_t> Share(const RoundRequest&) const { return {}; }
  // Changes what has been decided of a round: who takes part, with how much, and what of the weights they get.
  virtual Status Shape(const RoundScene&, RoundRequest&) { return OkStatus(); }
  // What updates go through on their way to the round's mean.
  virtual UpdateSink& Through(UpdateSink& whole) { return whole; }
  // The round is over, and will change the model: what this method adds to its mean itself, knowing whose updates came.
  virtual Status Conclude(const RoundReport&) { return OkStatus(); }
  // Moves the parameters by the weighted mean of the round's updates: BeginStep once, then every range once. `mean` and
  // `parameters` are the elements from `offset`; the mean may be overwritten. The round's learning rate is multiplied by
  // `rate_factor`.
  virtual void BeginStep(RoundId round, double rate_factor) = 0;
  virtual void StepRange(std::size_t offset, std::span<float> mean, std::span<float> parameters) = 0;
  // The one that moves them, whose state a checkpoint holds.
  virtual Optimiser& optimiser() = 0;
  // Whether devices have models of their own, whose mean is collected when it is needed; rounds then bring nothing to a mean.
  virtual bool Collects() const { return false; }
  // Where it stands in its samples, if it plans them; which a checkpoint holds too.
  virtual const EpochState* epoch() const { return nullptr; }
  virtual Status Restore(const EpochState&) { return OkStatus(); }
};

// What the experiment asks of a device whatever the method: which batches, and how they are read.
TrainAssignment CommonAssignment(const Experiment& experiment, RoundId round);

// sync-sgd: one gradient from each, weighted by batch, one step of the coordinator's optimiser.
StatusOr<std::unique_ptr<RoundMethod>> MakeSyncSgd(const Experiment& experiment, std::size_t parameters);
// federated: local steps on each, the weighted mean of their changes, the server's optimiser.
StatusOr<std::unique_ptr<RoundMethod>> MakeFederated(const Experiment& experiment, std::size_t parameters);
// gossip: local steps on each, which then average with their neighbours.
StatusOr<std::unique_ptr<RoundMethod>> MakeGossip(const Experiment& experiment, std::size_t parameters);

}  // namespace tributary
