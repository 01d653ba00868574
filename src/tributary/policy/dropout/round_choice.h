#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/ids.h"
#include "tributary/base/rng.h"
#include "tributary/base/status.h"
#include "tributary/model/channel_groups.h"
#include "tributary/model/model.h"
#include "tributary/model/subnetwork_graph.h"
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

// The sub-networks of a network that a device chooses from: of each how many atoms of every channel group it keeps, and what
// that costs. From the worst to the best, which also costs the most.
class DropoutMenu {
 public:
  struct Entry {
    std::vector<std::int64_t> kept;
    CostFeatures features;  // of a training step, for a sample
    double macs = 1;        // as a share of the whole network's
    double cost = 1;        // of a step in virtual time, as a share of the whole network's
  };

  // For a method that chooses. An error in words for a front of another network.
  static StatusOr<DropoutMenu> Make(const Model& model, const DropoutOptions& options);

  const std::vector<Entry>& entries() const { return entries_; }
  const ChannelGroups& groups() const { return groups_; }
  const DropoutMethod& method() const { return method_; }
  ChannelChoice channels() const { return channels_; }

  // The best that fits; the cheapest where none does.
  std::size_t BestFit(const std::function<bool(const Entry&)>& fits) const;

 private:
  DropoutMethod method_;
  ChannelChoice channels_ = ChannelChoice::kRandom;
  ChannelGroups groups_;
  std::vector<Entry> entries_;
};

// How filters are scaled in this network.
FilterScaling ScalingOf(const DropoutOptions& options, const Graph& graph);

// How long a step may take: an equal share of the time that is left for the steps that are left, this one included. So if
// each step keeps to its slot, the last one ends in time; and one that took longer leaves less to the others.
inline Duration StepSlot(Duration left, std::size_t steps) { return left / static_cast<std::int64_t>(steps); }

// Fraction of the round kept as slack, because step times are estimates: steps differ, and the operating system shares
// the processors among processes.
inline constexpr double kTimeReserve = 0.05;

// The channels that a step of this round trains, if it trains this entry of the menu. Those of a method that is fixed in a
// round are the same at every step: whoever knows the entry knows them.
KeptAtoms AtomsOf(const DropoutMenu& menu, const ChoiceKey& key, std::uint64_t step, std::size_t entry);

// What one device trains in one round, step by step.
class RoundChoice {
 public:
  // The menu must outlive it.
  RoundChoice(const DropoutMenu& menu, const ChoiceKey& key) : menu_(menu), key_(key) {}

  // The entry of the menu for the next step, which is about to begin. `fits` is whether it and those that follow can all be
  // such steps in the time that is left, with what the device has now. Asked at every step where the method may choose
  // anew, and at the first one otherwise.
  std::size_t Next(const std::function<bool(const DropoutMenu::Entry&)>& fits);

  // Of the steps up to now.
  const std::vector<std::uint32_t>& chosen() const { return chosen_; }
  KeptAtoms Atoms(std::uint64_t step) const { return AtomsOf(menu_, key_, step, chosen_[step]); }
  const DropoutMenu& menu() const { return menu_; }

 private:
  const DropoutMenu& menu_;
  const ChoiceKey key_;
  std::size_t most_ = 0;  // of a method that looks once
  std::vector<std::uint32_t> chosen_;
};

// What was chosen, for people: the share of the multiply-accumulates that steps of these entries kept, on average.
double MeanMacs(const DropoutMenu& menu, const std::vector<std::uint32_t>& chosen);

}  // namespace tributary::inline policy
