#pragma once

#include <memory>
#include <vector>

#include "tributary/policy/dropout/front.h"
#include "tributary/policy/dropout/subnetwork_rule.h"

namespace tributary::inline policy {

// Which scaling of filters (FilterScaling in model/subnetwork_graph.h).
enum class ScalingChoice { kAuto, kNone, kInverse };

// Over whom the mean of an element is taken.
enum class MeanOver {
  kAll,      // all devices: who did not train it counts with no change
  kTrained,  // those that trained it, each by the samples of the steps in which it did
};

struct DropoutOptions {
  DropoutMethod method = SubnetworkRuleNamed("full");
  // small: the share of every layer's channels that there are.
  double width = 0.5;
  // Menu::kWidths: the widths that a device can choose from, rising. Widths that come to the same numbers of channels
  // are one.
  std::vector<double> widths = {0.0625, 0.125, 0.25, 0.5, 1};
  // pareto: what it can choose from. For the others, only what a sub-network costs.
  std::shared_ptr<const ParetoFront> front;
  // pareto: random is DISTREAL. A front is of most use with those that it was explored with.
  ChannelChoice channels = ChannelChoice::kRandom;
  // Rules whose devices choose at each step: all is as published. The other rules average over those that trained it.
  MeanOver mean = MeanOver::kAll;
  // What a step on a sub-network takes in virtual time, of a step on the whole network: the share of its
  // multiply-accumulates, or what the front's cost model says.
  FrontCost cost = FrontCost::kMacs;
  ScalingChoice scaling = ScalingChoice::kAuto;
};

// Whether an element's mean is over those that trained it.
inline bool CountsTrained(const DropoutOptions& options) {
  const SubnetworkRule& rule = *options.method;
  return rule.IsFixedInRound() || (rule.Chooses() && options.mean == MeanOver::kTrained);
}

}  // namespace tributary::inline policy
