#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/rng.h"
#include "tributary/base/status.h"
#include "tributary/model/channel_groups.h"
#include "tributary/model/model.h"
#include "tributary/model/subnetwork_graph.h"
#include "tributary/policy/dropout/front.h"
#include "tributary/policy/dropout/subnetwork_rule.h"

namespace tributary::inline policy {

// Filter scaling (FilterScaling in model/subnetwork_graph.h).
enum class ScalingChoice { kAuto, kNone, kInverse };

// Which devices the mean of an element includes.
enum class MeanOver {
  kAll,      // all devices; a device that did not train the element counts as no change
  kTrained,  // the devices that trained it, weighted by the samples of the steps in which they did
};

struct DropoutOptions {
  DropoutMethod method = SubnetworkRuleNamed("full");
  // small: fraction of every layer's channels.
  double width = 0.5;
  // Menu::kWidths: the widths to choose from, ascending. Widths with the same channel counts are merged.
  std::vector<double> widths = {0.0625, 0.125, 0.25, 0.5, 1};
  // pareto: the choices. Other rules use only its cost model.
  std::shared_ptr<const ParetoFront> front;
  // pareto: random is DISTREAL. Should be the choice that the front was explored with.
  ChannelChoice channels = ChannelChoice::kRandom;
  // For rules that choose at each step: kAll is as published. The other rules always use kTrained.
  MeanOver mean = MeanOver::kAll;
  // Virtual time of a step relative to the whole network: by MACs, or by the front's cost model.
  FrontCost cost = FrontCost::kMacs;
  ScalingChoice scaling = ScalingChoice::kAuto;
};

// Whether the mean of an element includes only the devices that trained it.
inline bool CountsTrained(const DropoutOptions& options) {
  const SubnetworkRule& rule = *options.method;
  return rule.IsFixedInRound() || (rule.Chooses() && options.mean == MeanOver::kTrained);
}

// The sub-networks that a device chooses from: the number of atoms kept per channel group, and the cost. From
// the worst to the best, which is also the most expensive.
class DropoutMenu {
 public:
  struct Entry {
    std::vector<std::int64_t> kept;
    CostFeatures features;  // per training step and sample
    double macs = 1;        // relative to the whole network
    double cost = 1;        // of a step in virtual time, relative to the whole network
  };

  // For a method that chooses. Fails if the front is of another network.
  static StatusOr<DropoutMenu> Make(const Model& model, const DropoutOptions& options);
  const std::vector<Entry>& entries() const { return entries_; }
  const ChannelGroups& groups() const { return groups_; }
  const DropoutMethod& method() const { return method_; }
  ChannelChoice channels() const { return channels_; }

  // The best entry that fits, or the cheapest if none fits.
  std::size_t BestFit(const std::function<bool(const Entry&)>& fits) const;

 private:
  DropoutMethod method_;
  ChannelChoice channels_ = ChannelChoice::kRandom;
  ChannelGroups groups_;
  std::vector<Entry> entries_;
};

// The filter scaling for this network.
FilterScaling ScalingOf(const DropoutOptions& options, const Graph& graph);

// The time budget of a step: an equal part of the remaining time for each remaining step, including this one.
// If every step keeps to its slot, the last ends in time; a slow step leaves less to the others.
inline Duration StepSlot(Duration left, std::size_t steps) { return left / static_cast<std::int64_t>(steps); }

// Fraction of the round kept as slack, because step times vary and processes share the processors.
inline constexpr double kTimeReserve = 0.05;

// The channels that a step trains with this entry of the menu. If fixed in a round, equal for all its steps.
KeptAtoms AtomsOf(const DropoutMenu& menu, const ChoiceKey& key, std::uint64_t step, std::size_t entry);

// What one device trains in one round, step by step.
class RoundChoice {
 public:
  // The menu must outlive it.
  RoundChoice(const DropoutMenu& menu, const ChoiceKey& key) : menu_(menu), key_(key) {}

  // Chooses the entry for the next step. `fits`: whether this step and all remaining ones can train the entry
  // in the remaining time. Called at every step if the method may choose again, otherwise only at the first.
  std::size_t Next(const std::function<bool(const DropoutMenu::Entry&)>& fits);

  // One entry per step so far.
  const std::vector<std::uint32_t>& chosen() const { return chosen_; }
  KeptAtoms Atoms(std::uint64_t step) const { return AtomsOf(menu_, key_, step, chosen_[step]); }
  const DropoutMenu& menu() const { return menu_; }

 private:
  const DropoutMenu& menu_;
  const ChoiceKey key_;
  std::size_t most_ = 0;  // the largest affordable entry
  std::vector<std::uint32_t> chosen_;
};

// Summary for reports: the mean fraction of MACs that steps with these entries kept.
double MeanMacs(const DropoutMenu& menu, const std::vector<std::uint32_t>& chosen);

}  // namespace tributary::inline policy
