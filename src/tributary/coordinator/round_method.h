#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/experiment/experiment.h"
#include "tributary/fleet/fleet.h"

namespace tributary::inline coordinator {

struct EpochState;
struct SplitSetup;

// What a method that decides who takes part may look at, and where the coordinator's own part of the learning goes.
struct RoundScene {
  std::span<const DeviceProfile> devices;
  SharedWeights weights;
  UpdateSink& sink;
  std::function<void(const std::string&)> note;  // for the run's log
};

// A way of running a round: what the devices are asked, and what becomes of the mean of their answers. State that
// must survive (momentum, the schedule's place, the samples planned) is the optimiser's, the round's number and the epoch's.
class RoundMethod {
 public:
  virtual ~RoundMethod() = default;

  virtual TrainAssignment Assign(RoundId round) const = 0;
  // How many samples of its batch each participant shares; empty for none. Batches have been decided.
  virtual std::vector<std::size_t> SharedSamples(const WorkOrder&) const { return {}; }
  // Changes the request before it is sent: who takes part, with which batch, and which weights they get.
  virtual Status PrepareRequest(const RoundScene&, WorkOrder&) { return OkStatus(); }
  // The sink that updates go to, which passes them on to `whole`, the round's mean.
  virtual UpdateSink& WrapSink(UpdateSink& whole) { return whole; }
  // The round is over, and will change the model: what this method adds to its mean itself, knowing whose updates came.
  virtual Status OnRoundAccepted(const RoundReport&) { return OkStatus(); }
  // Moves the parameters by the weighted mean of the round's updates: BeginStep once, then every range once. `mean` and
  // `parameters` are the elements from `offset`; the mean may be overwritten. The round's learning rate is multiplied by
  // `rate_factor`.
  virtual void BeginStep(RoundId round, double rate_factor) = 0;
  virtual void StepRange(std::size_t offset, std::span<float> mean, std::span<float> parameters) = 0;
  // The one that moves them, whose state a checkpoint holds.
  virtual Optimiser& optimiser() = 0;
  // Whether devices have models of their own, whose mean is collected when it is needed; rounds then bring nothing to a mean.
  virtual bool devices_own_models() const { return false; }
  // Where it stands in its samples, if it plans them; which a checkpoint holds too.
  virtual const EpochState* epoch() const { return nullptr; }
  virtual Status Restore(const EpochState&) { return OkStatus(); }
};

// The experiment's method, for a network of so many parameters. `split` is what the method of that name needs besides.
//
//   sync-sgd    one gradient from each, weighted by batch, one step of the coordinator's optimiser
//   federated   local steps on each, the weighted mean of their changes, the server's optimiser
//   gossip      local steps on each, which then average with their neighbours
//   split       a global batch is drawn from the devices' samples (policy/sampling); devices run the front of the network on
//               their part of it, the coordinator the rest, and one step of the coordinator's optimiser moves both
//   split, in a variant that averages: rounds of local steps on the devices' fronts, each of which goes over the cut, and
//               the weighted mean of their changes, as in federated; the coordinator's part adds its own
StatusOr<std::unique_ptr<RoundMethod>> MakeRoundMethod(const Experiment& experiment, std::size_t parameters,
                                                       const SplitSetup* split);

}  // namespace tributary::inline coordinator
