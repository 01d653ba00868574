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

// Options of an exploration. All but `threads` change the result.
struct ExploreOptions {
  // Survivors per generation; at least kLeastPopulation, because the first contains the full network, the
  // cheapest and the uniform vectors. Twice as many vectors are screened per generation.
  std::size_t population = 24;
  std::uint64_t seed = 1;
  FrontCost cost = FrontCost::kTime;
  std::optional<CostModel> profile;  // cost model of another device, instead of measuring here
  // The channel choice that devices will use: for candidates and for the snapshots.
  ChannelChoice channels = ChannelChoice::kRandom;
  bool scale_filters = false;  // FilterScaling::kInverse instead of kNone

  // The short training that evaluates a vector.
  std::size_t batch = 32;
  double learning_rate = 0.05;
  double momentum = 0.9;
  std::size_t steps = 32;           // per snapshot; more distinguish vectors better and take longer
  std::size_t screening_steps = 8;  // from one snapshot, for screening
  std::size_t samples = 512;        // for the loss

  // Training steps up to the last snapshot; the others are taken earlier.
  std::size_t snapshot_steps = 480;

  std::size_t threads = 1;
};

inline constexpr std::size_t kLeastPopulation = 10;
inline constexpr std::size_t kSnapshots = 3;
// Uniform vectors evaluated besides the full network, at evenly spaced rates.
inline constexpr std::size_t kUniformVectors = 8;
inline constexpr double kHighestRate = 0.95;
// How often a candidate of the front is trained again with other random seeds.
inline constexpr std::size_t kConfirmations = 2;

Status CheckExploreOptions(const ExploreOptions& options);

// The weights at some point of a training.
struct Snapshot {
  explicit Snapshot(const Model& model)
      : parameters(model.parameters.size), statistics(model.statistics.size) {}
  FlatBuffer parameters, statistics;
};

// Trains a network by steps on its sub-networks, as a device under DISTREAL does: gather, forward, backward,
// step, scatter. Each step keeps other random channels, or the first ones (ExploreOptions::channels).
// Momentum belongs to the whole network and changes only for kept parameters.
//
//   1. Begin, with initial weights and zero momentum;
//   2. Keep, with the number of atoms to keep per group;
//   3. Step, any number of times; Keep may be called in between;
//   4. weights() are those of the whole network. Statistics are not trained: estimate them before evaluating.
// For one thread at a time.
class SubnetworkTraining {
 public:
  SubnetworkTraining(std::shared_ptr<const Model> model, const ExploreOptions& options);

  void Begin(const Snapshot& from);
  void Keep(std::span<const std::int64_t> kept);
  // One mini-batch; draws random channels from `chance`. Returns the sub-network's loss before the step.
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

// Random rates around a common random level up to `highest`, so that sums over many groups vary.
std::vector<double> RatesAroundALevel(std::size_t groups, double highest, Rng& rng);

// Measures training steps on this machine, on the calling thread: random vectors and the full network on
// synthetic samples, interleaved, medians; then fits a model of whole mini-batches. `should_stop` cancels it.
StatusOr<CostModel> MeasureStepTimes(const ExploreOptions& options, const std::shared_ptr<const Model>& model,
                                     const Clock& clock, const std::function<bool()>& should_stop);

// The features of a step with `batch` samples, from those of one sample.
CostFeatures FeaturesOfBatch(CostFeatures of_one, std::size_t batch);

}  // namespace tributary::inline explore
