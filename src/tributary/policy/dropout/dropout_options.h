#pragma once

#include <memory>
#include <vector>

#include "tributary/policy/dropout/front.h"

namespace tributary::inline policy {

// How much of the network devices train.
enum class DropoutMethod {
  kFull,      // all of it
  kSmall,     // all of a narrower one
  kUniform,   // Federated Dropout: random channels, the same in all steps of a round, one width in all layers
  kHeteroFl,  // HeteroFL: likewise, but the first channels
  kFjord,     // FjORD: the first channels, at each step of a random width up to what the device can afford
  kFedRolex,  // FedRolex: a window of channels that moves on by one each round
  kPareto,  // DISTREAL: random channels at each step, by the best explored vector that the device can afford then
};

// Which scaling of filters (FilterScaling in model/subnetwork_graph.h).
enum class ScalingChoice { kAuto, kNone, kInverse };

// Over whom the mean of an element is taken.
enum class MeanOver {
  kAll,      // all devices: who did not train it counts with no change
  kTrained,  // those that trained it, each by the samples of the steps in which it did
};

struct DropoutOptions {
  DropoutMethod method = DropoutMethod::kFull;
  // small: the share of every layer's channels that there are.
  double width = 0.5;
  // uniform, heterofl, fjord, fedrolex: what a device can choose from, rising. Widths that come to the same numbers of
  // channels are one.
  std::vector<double> widths = {0.0625, 0.125, 0.25, 0.5, 1};
  // pareto: what it can choose from. For the others, only what a sub-network costs.
  std::shared_ptr<const ParetoFront> front;
  // pareto: random is DISTREAL. A front is of most use with those that it was explored with.
  ChannelChoice channels = ChannelChoice::kRandom;
  // fjord, pareto: all is as published. The others take it over those that trained it.
  MeanOver mean = MeanOver::kAll;
  // What a step on a sub-network takes in virtual time, of a step on the whole network: the share of its
  // multiply-accumulates, or what the front's cost model says.
  FrontCost cost = FrontCost::kMacs;
  ScalingChoice scaling = ScalingChoice::kAuto;
};

// Whether devices choose from a menu (menu.h), by the time that they have.
inline bool ChoosesWidths(DropoutMethod method) {
  return method == DropoutMethod::kUniform || method == DropoutMethod::kHeteroFl ||
         method == DropoutMethod::kFjord || method == DropoutMethod::kFedRolex;
}
inline bool Chooses(DropoutMethod method) {
  return ChoosesWidths(method) || method == DropoutMethod::kPareto;
}

// Whether a device trains the same channels in all steps of a round.
inline bool IsFixedInRound(DropoutMethod method) {
  return ChoosesWidths(method) && method != DropoutMethod::kFjord;
}

// Whether an element's mean is over those that trained it.
inline bool CountsTrained(const DropoutOptions& options) {
  return IsFixedInRound(options.method) || (Chooses(options.method) && options.mean == MeanOver::kTrained);
}

}  // namespace tributary::inline policy
