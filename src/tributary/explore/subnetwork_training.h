#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/flat_buffer.h"
#include "tributary/engine/subnetwork.h"
#include "tributary/policy/dropout/front.h"
#include "tributary/policy/optimisation/optimiser.h"

namespace tributary::inline explore {

// How the dropout vectors of a network are explored. Everything but `threads` changes what is found.
struct ExploreOptions {
  // How many vectors survive a generation; at least kLeastPopulation, since it starts with the full network, the cheapest
  // one and uniform vectors. Twice as many are looked at in each.
  std::size_t population = 24;
  std::uint64_t seed = 1;
  FrontCost cost = FrontCost::kTime;
  std::optional<CostModel> profile;  // what steps take on some device, instead of what is measured here
  // With which channels candidates train, and the network they begin from: those that devices are to train with.
  ChannelChoice channels = ChannelChoice::kRandom;
  bool scale_filters = false;  // FilterScaling::kInverse instead of kNone

  // The short training by which a vector is judged.
  std::size_t batch = 32;
  double learning_rate = 0.05;
  double momentum = 0.9;
  std::size_t steps = 32;           // from each snapshot; more tell vectors apart better and take longer
  std::size_t screening_steps = 8;  // from one snapshot, before it is decided who is worth the rest
  std::size_t samples = 512;        // over which the loss is taken

  // The network is trained this long for the last snapshot, for the others a part of it.
  std::size_t snapshot_steps = 480;

  std::size_t threads = 1;
};

inline constexpr std::size_t kLeastPopulation = 10;
inline constexpr std::size_t kSnapshots = 3;
// Uniform vectors that are evaluated besides the full network, at evenly spaced rates.
inline constexpr std::size_t kUniformVectors = 8;
inline constexpr double kHighestRate = 0.95;
// How often a vector that would be on the front is trained again, with other chance, before it is.
inline constexpr std::size_t kConfirmations = 2;

// An error in words for what is out of its range.
Status CheckExploreOptions(const ExploreOptions& options);

// A network at some moment of its training.
struct Snapshot {
  explicit Snapshot(const Model& model)
      : parameters(model.parameters.size), statistics(model.statistics.size) {}
  FlatBuffer parameters, statistics;
};

// Trains a network by steps on sub-networks of it, as a device under DISTREAL does: gather, forward, backward, step, scatter.
// Each keeps other channels than the one before, or the first ones (ExploreOptions::channels). Momentum is that of the whole network's parameters and
// moves those only that are kept.
//
//   1. Begin, with weights to start from, and without momentum;
//   2. Keep, with how many atoms to keep of each group from here on;
//   3. Step, as often as wanted, and 2 again where others are to be kept;
//   4. weights() are those of the whole network. Statistics are not learnt: estimate them before evaluating.
// One thread at a time.
class SubnetworkTraining {
 public:
  SubnetworkTraining(std::shared_ptr<const Model> model, const ExploreOptions& options);

  void Begin(const Snapshot& from);
  void Keep(std::span<const std::int64_t> kept);
  // One mini-batch; random channels are drawn from `chance`. The loss is that of the sub-network, before the step.
  StatusOr<double> Step(const BatchView& batch, Rng& chance);

  Snapshot& weights() { return weights_; }

 private:
  std::shared_ptr<const Model> model_;
  const ExploreOptions options_;
  std::vector<std::int64_t> kept_;
  Snapshot weights_;
  std::vector<FlatBuffer> optimiser_state_;  // of the whole network
  std::unique_ptr<Subnetwork> subnetwork_;
  std::unique_ptr<Optimiser> optimiser_;  // of the sub-network
};

// Random rates around a level up to `highest`, so that sums over many groups do not all come to the same.
std::vector<double> RatesAroundALevel(std::size_t groups, double highest, Rng& rng);

// What a training step on a sub-network takes on this machine, on the calling thread alone: random vectors over the whole
// range and the full network are measured on made-up samples, one after the other and all again (medians), and a
// model is fitted. Features are those of the whole mini-batch. Cancelled where `should_stop` says so.
StatusOr<CostModel> MeasureStepTimes(const ExploreOptions& options, const std::shared_ptr<const Model>& model,
                                     const Clock& clock, const std::function<bool()>& should_stop);

// The features of a step of `batch` samples, from those of one.
CostFeatures FeaturesOfBatch(CostFeatures of_one, std::size_t batch);

}  // namespace tributary::inline explore
