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
  // How much of the previous direction is kept, in [0, 1): nearer to one smooths over more steps and
  // lengthens the effective step by 1 / (1 − momentum). Costs one float per parameter unless it is zero. sgd
  // only.
  double momentum = 0;
  // Looks one momentum step ahead; often a little faster at the same momentum, which must not be zero. sgd
  // only.
  bool nesterov = false;
  // Pulls every parameter towards zero through its gradient (L2); larger regularises more.
  double weight_decay = 0;
  // How much of the running mean of gradients, and of their squares, is kept, each in [0, 1): nearer to one
  // averages over more steps. adam only.
  double beta1 = 0.9;
  double beta2 = 0.999;
  // Added to the root of the mean square: larger makes rarely moving parameters step less, and it must be
  // above zero, so that one that never moved is not divided by zero. adam only.
  double epsilon = 1e-8;
};

// Turns gradients into new parameters, over the flat buffers both lie in. Elements never influence each
// other, so a step may be made range by range as gradients arrive, with the same bits as all at once:
//
//   1. BeginStep once, with the step's learning rate.
//   2. StepRange for each range that has its gradient, in any order, each element at most once. Ranges that
//   do not
//      overlap may be stepped from several threads at once. What is left out keeps its parameters and its
//      state.
//
// Parameters and gradients must not overlap. Sizes that do not fit, and a range before the first BeginStep or
// after the counter was set, are bugs.
class Optimiser {
 public:
  // One array of the state, as long as the parameters, named as it should be called in a checkpoint.
  struct StateArray {
    std::string_view name;
    std::span<float> values;
  };

  virtual ~Optimiser() = default;
  Optimiser(const Optimiser&) = delete;
  Optimiser& operator=(const Optimiser&) = delete;

  void BeginStep(double learning_rate);
  // `parameters` and `gradients` hold the elements from `offset` of the whole, and only those.
  void StepRange(std::size_t offset, std::span<float> parameters, std::span<const float> gradients);
  // A whole step at once.
  void Step(std::span<float> parameters, std::span<const float> gradients, double learning_rate);

  // What a checkpoint must hold besides the parameters: these arrays and the number of steps begun. An
  // optimiser made with the same options goes on exactly where this one stood once both are put back. The
  // arrays stay where they are as long as the optimiser lives; between BeginStep and the last range they are
  // half old and half new.
  virtual std::vector<StateArray> State() = 0;
  std::uint64_t steps() const { return steps_; }
  void set_steps(std::uint64_t steps);

  std::size_t size() const { return size_; }

 protected:
  explicit Optimiser(std::size_t size) : size_(size) {}

 private:
  // What all ranges of a step share is worked out here, once; steps() already counts the step.
  virtual void Prepare(double learning_rate) = 0;
  // Sizes have been checked.
  virtual void Apply(std::size_t offset, std::span<float> parameters, std::span<const float> gradients) = 0;

  const std::size_t size_;
  std::uint64_t steps_ = 0;
  bool prepared_ = false;
};

// An optimiser for `size` parameters, its state all zero. Refused with a reason: unknown names, options out
// of range, and options that have no meaning for the optimiser named.
StatusOr<std::unique_ptr<Optimiser>> MakeOptimiser(const OptimiserOptions& options, std::size_t size);

struct ServerOptimiserOptions {
  // `none`          the mean of the devices' models becomes the model (at a learning rate of 1): FedAvg
  // `momentum`      the mean change is smoothed over rounds: FedAvgM
  // `adam`, `yogi`  each parameter's step is divided by the size its changes usually have: FedAdam, FedYogi.
  //                 Yogi's size falls slowly, so that a few quiet rounds do not lead to a leap
  std::string name = "none";
  // How much of the previous direction is kept, in [0, 1). momentum only.
  double momentum = 0.9;
  // How much of the running mean of changes, and of their squares, is kept, each in [0, 1). adam and yogi
  // only.
  double beta1 = 0.9;
  double beta2 = 0.99;
  // Added to the root of the mean square, above zero: larger is less adaptive. adam and yogi only.
  double tau = 1e-3;
};

// How the coordinator turns what a round of federated averaging brought into the next model: an Optimiser
// whose gradient is the weighted mean of (parameters sent out − parameters that came back). Its steps are
// rounds.
//
//   none      parameter −= rate · gradient
//   momentum  momentum = factor · momentum + gradient;  parameter −= rate · momentum
//   adam      mean = beta1 · mean + (1 − beta1) · gradient
//             square = beta2 · square + (1 − beta2) · gradient²
//             parameter −= rate · mean / (√square + tau)
//   yogi      the same, with square −= (1 − beta2) · gradient² · sign(square − gradient²)
//
// As in Reddi et al., "Adaptive Federated Optimization" (2021): neither mean is corrected for its start, and
// squares start at tau², the least the paper allows. State: nothing; `momentum`; `mean` and `square`.
//
// Refused with a reason: unknown names and options out of range, for the optimiser named.
StatusOr<std::unique_ptr<Optimiser>> MakeServerOptimiser(const ServerOptimiserOptions& options,
                                                         std::size_t size);

}  // namespace tributary::inline policy
