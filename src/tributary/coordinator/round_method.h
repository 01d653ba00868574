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

// Input for a method that selects participants, and the sink for the coordinator's own part of the training.
struct RoundScene {
  std::span<const DeviceProfile> devices;
  SharedWeights weights;
  UpdateSink& sink;
  std::function<void(const std::string&)> note;  // for the run's log
};

// How a round is run: what devices are asked to do, and how the mean of their updates is applied. Persistent
// state (momentum, schedule, planned samples) is kept in the optimiser, the round number and the epoch.
class RoundMethod {
 public:
  virtual ~RoundMethod() = default;

  virtual TrainAssignment Assign(RoundId round) const = 0;
  // Number of samples that each participant shares of its batch; empty for none. Batch sizes are decided.
  virtual std::vector<std::size_t> SharedSamples(const WorkOrder&) const { return {}; }
  // Modifies the request before it is sent: participants, batches and weights.
  virtual Status PrepareRequest(const RoundScene&, WorkOrder&) { return OkStatus(); }
  // The sink for updates; it forwards them to `whole`, the round's aggregate.
  virtual UpdateSink& WrapSink(UpdateSink& whole) { return whole; }
  // Called when the round counts: adds the method's own contribution, depending on whose updates arrived.
  virtual Status OnRoundAccepted(const RoundReport&) { return OkStatus(); }
  // Moves the parameters along the mean of the updates: BeginStep once, then each range once. `mean` and
  // `parameters` start at `offset`; `mean` may be overwritten. `rate_factor` scales the learning rate.
  virtual void BeginStep(RoundId round, double rate_factor) = 0;
  virtual void StepRange(std::size_t offset, std::span<float> mean, std::span<float> parameters) = 0;
  // The optimiser of the parameters; a checkpoint stores its state.
  virtual Optimiser& optimiser() = 0;
  // Whether devices have their own models. Their mean is collected when needed, not in every round.
  virtual bool devices_own_models() const { return false; }
  // Position in the planned samples, if the method plans them; stored in checkpoints.
  virtual const EpochState* epoch() const { return nullptr; }
  virtual Status Restore(const EpochState&) { return OkStatus(); }
  // These devices have left the run: their samples are no longer planned.
  virtual Status Remove(std::span<const DeviceId>) { return OkStatus(); }
};

// The experiment's method, for a network with this number of parameters. Only `split` needs the SplitSetup.
//
//   sync-sgd    one gradient per device, weighted by batch size; one step of the coordinator's optimiser
//   federated   local steps on each device; the weighted mean of the changes; the server optimiser
//   gossip      local steps on each device, then an average with its neighbours
//   split       a global batch is drawn from the devices' samples (policy/sampling); devices run the front of
//               the network on their samples, the coordinator the rest; one optimiser step updates both
//   split, with a variant that averages: rounds of local steps on the fronts, each over the cut; the weighted
//               mean of their changes as in federated; the coordinator's part adds its own changes
StatusOr<std::unique_ptr<RoundMethod>> MakeRoundMethod(const Experiment& experiment, std::size_t parameters,
                                                       const SplitSetup* split);

}  // namespace tributary::inline coordinator
