#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "tributary/policy/optimisation/optimiser.h"

namespace tributary::inline policy {

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

// The learning rate to take where none is given: 1 for none and momentum, 0.01 for adam and yogi, whose steps
// do not shrink with the changes.
double DefaultServerLearningRate(std::string_view name);

}  // namespace tributary::inline policy
