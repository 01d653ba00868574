#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tributary/base/flat_buffer.h"
#include "tributary/engine/thin_network.h"
#include "tributary/explore/options.h"
#include "tributary/policy/optimisation/optimiser.h"

namespace tributary {

// A network at some moment of its training.
struct Snapshot {
  explicit Snapshot(const Model& model) : parameters(model.parameters.size), statistics(model.statistics.size) {}
  FlatBuffer parameters, statistics;
};

// Trains a network by steps on sub-networks of it, all of which keep as many channels and each others than the one before,
// as a device under DISTREAL does: gather, forward, backward, step, scatter. Momentum is that of the whole network's
// parameters and moves those only that are kept.
//
//   1. Begin, with weights to start from and how many atoms to keep of each group;
//   2. Step, as often as wanted;
//   3. weights() are those of the whole network. Statistics are not learnt: whoever evaluates estimates them first.
// One thread at a time.
class ThinTraining {
 public:
  ThinTraining(std::shared_ptr<const Model> model, const ExploreOptions& options);

  void Begin(const Snapshot& from, std::span<const std::int64_t> kept);
  // One mini-batch on channels drawn from `chance`. The loss is that of the sub-network, before the step.
  StatusOr<double> Step(const BatchView& batch, Rng& chance);

  Snapshot& weights() { return weights_; }

 private:
  std::shared_ptr<const Model> model_;
  const ExploreOptions options_;
  std::vector<std::int64_t> kept_;
  Snapshot weights_;
  std::vector<FlatBuffer> optimiser_state_;  // of the whole network
  std::unique_ptr<ThinNetwork> thin_;
  std::unique_ptr<Optimiser> optimiser_;  // of the sub-network
};

}  // namespace tributary
