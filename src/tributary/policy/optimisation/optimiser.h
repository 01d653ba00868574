#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/status.h"

namespace tributary::inline policy {

struct OptimiserOptions {
  // `sgd` or `adam`.
  std::string name = "sgd";
  // Fraction of the previous direction that is kept, in [0, 1). Larger values average over more steps and
  // lengthen the effective step by 1 / (1 − momentum). Needs one float per parameter unless 0. sgd only.
  double momentum = 0;
  // Nesterov momentum; often slightly faster at the same momentum, which must not be 0. sgd only.
  bool nesterov = false;
  // L2 penalty, added to the gradient; larger values regularise more.
  double weight_decay = 0;
  // Decay of the running means of gradients and squared gradients, in [0, 1); larger is smoother. adam only.
  double beta1 = 0.9;
  double beta2 = 0.999;
  // Added to the root of the mean square; above 0, to avoid division by zero. Larger values shrink the steps
  // of parameters with small gradients. adam only.
  double epsilon = 1e-8;
};

// Turns gradients into new parameters, over flat buffers. Elements are independent, so a step may be made
// range by range as gradients arrive, with the same bits as all at once:
//
//   1. BeginStep once, with the step's learning rate.
//   2. StepRange for each range that has its gradient, in any order, each element at most once. Disjoint
//      ranges may be stepped from several threads. Elements left out keep their parameters and state.
//
// Bugs: overlapping parameters and gradients, wrong sizes, a range before BeginStep or after set_steps.
class Optimiser {
 public:
  // One array of the state, as long as the parameters, with its name in a checkpoint.
  struct StateArray {
    std::string_view name;
    std::span<float> values;
  };

  virtual ~Optimiser() = default;
  Optimiser(const Optimiser&) = delete;
  Optimiser& operator=(const Optimiser&) = delete;

  void BeginStep(double learning_rate);
  // `parameters` and `gradients` hold only the range that starts at element `offset`.
  void StepRange(std::size_t offset, std::span<float> parameters, std::span<const float> gradients);
  // A whole step.
  void Step(std::span<float> parameters, std::span<const float> gradients, double learning_rate);

  // A checkpoint must hold the parameters, these arrays and steps(); an optimiser with the same options then
  // continues exactly. The arrays do not move. Between BeginStep and the last range they are inconsistent.
  virtual std::vector<StateArray> State() = 0;
  std::uint64_t steps() const { return steps_; }
  void set_steps(std::uint64_t steps);
  std::size_t size() const { return size_; }

 protected:
  explicit Optimiser(std::size_t size) : size_(size) {}

 private:
  // Computes once what all ranges of a step share; steps() already counts the step.
  virtual void Prepare(double learning_rate) = 0;
  virtual void Apply(std::size_t offset, std::span<float> parameters, std::span<const float> gradients) = 0;

  const std::size_t size_;
  std::uint64_t steps_ = 0;
  bool prepared_ = false;
};

// An optimiser for `size` parameters, with zero state. Refuses unknown names, options out of range, and
// options that are not valid for the named optimiser.
StatusOr<std::unique_ptr<Optimiser>> MakeOptimiser(const OptimiserOptions& options, std::size_t size);

struct ServerOptimiserOptions {
  // `none`          the model becomes the mean of the devices' models (at a learning rate of 1): FedAvg
  // `momentum`      the mean change is smoothed over rounds: FedAvgM
  // `adam`, `yogi` each parameter's step is divided by the usual size of its changes: FedAdam, FedYogi.
  //                 Yogi's estimate falls slowly, so that a few quiet rounds do not lead to a large step
  std::string name = "none";
  // Fraction of the previous direction that is kept, in [0, 1). momentum only.
  double momentum = 0.9;
  // Decay of the running means of changes and of squared changes, each in [0, 1). adam and yogi only.
  double beta1 = 0.9;
  double beta2 = 0.99;
  // Added to the root of the mean square; above 0, larger values are less adaptive. adam and yogi only.
  double tau = 1e-3;
};

// The coordinator's step after a round of federated averaging: an Optimiser whose gradient is the weighted
// mean of (parameters sent out − parameters returned). Its steps are rounds.
//
//   none      parameter −= rate · gradient
//   momentum  momentum = factor · momentum + gradient;  parameter −= rate · momentum
//   adam      mean = beta1 · mean + (1 − beta1) · gradient
//             square = beta2 · square + (1 − beta2) · gradient²
//             parameter −= rate · mean / (√square + tau)
//   yogi      the same, with square −= (1 − beta2) · gradient² · sign(square − gradient²)
//
// As in Reddi et al., "Adaptive Federated Optimization" (2021): no bias correction; squares start at tau²,
// the smallest value that the paper allows. State: none; `momentum`; `mean` and `square`.
//
// Refuses unknown names and options out of range for the named optimiser.
StatusOr<std::unique_ptr<Optimiser>> MakeServerOptimiser(const ServerOptimiserOptions& options,
                                                         std::size_t size);

}  // namespace tributary::inline policy
