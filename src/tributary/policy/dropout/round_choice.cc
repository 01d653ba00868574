#include "tributary/policy/dropout/round_choice.h"

#include "tributary/base/check.h"
#include "tributary/policy/dropout/cost_model.h"

namespace tributary::inline policy {
namespace {

// A unique number for every step of a run; rounds have fewer than 2^24 steps.
std::uint64_t NumberOf(RoundId round, std::uint64_t step) { return (round.value << 24) + step; }

std::vector<std::vector<double>> RatesToChooseFrom(const Model& model, const DropoutOptions& options) {
  std::vector<std::vector<double>> rates;
  if (options.method->ChoosesFromFront()) {
    for (const FrontPoint& point : options.front->points) rates.push_back(point.dropout);
  } else {
    for (const double width : options.widths) rates.emplace_back(model.channels.groups.size(), 1 - width);
  }
  return rates;
}

}  // namespace

KeptAtoms AtomsOf(const DropoutMenu& menu, const ChoiceKey& key, std::uint64_t step, std::size_t entry) {
  TRIBUTARY_CHECK(entry < menu.entries().size());
  return menu.method()->make({.groups = menu.groups(),
                              .counts = menu.entries()[entry].kept,
                              .key = key,
                              .draw = NumberOf(key.round, menu.method()->IsFixedInRound() ? 0 : step),
                              .channels = menu.channels()});
}

std::size_t RoundChoice::Next(const std::function<bool(const DropoutMenu::Entry&)>& fits) {
  const std::uint64_t step = chosen_.size();
  const auto choice = menu_.method()->choice;
  if (step == 0 || choice == SubnetworkRule::Choice::kStep) most_ = menu_.BestFit(fits);
  std::size_t entry = most_;
  if (choice == SubnetworkRule::Choice::kRandomUpTo) {
    Rng rng = Rng::ForStream(key_.seed, key_.device, "width", NumberOf(key_.round, step));
    entry = static_cast<std::size_t>(rng.Below(most_ + 1));
  }
  chosen_.push_back(static_cast<std::uint32_t>(entry));
  return entry;
}

double MeanMacs(const DropoutMenu& menu, const std::vector<std::uint32_t>& chosen) {
  double sum = 0;
  for (const std::uint32_t entry : chosen) sum += menu.entries()[entry].macs;
  return chosen.empty() ? 0 : sum / static_cast<double>(chosen.size());
}

StatusOr<DropoutMenu> DropoutMenu::Make(const Model& model, const DropoutOptions& options) {
  TRIBUTARY_CHECK(options.method->Chooses());
  const bool by_time = options.cost == FrontCost::kTime;
  if (options.front) TRIBUTARY_RETURN_IF_ERROR(CheckFrontFits(*options.front, model));
  TRIBUTARY_CHECK(options.front || (!by_time && !options.method->ChoosesFromFront()));
  const SubnetworkCosts costs(model);
  const std::vector<std::int64_t> all =
      KeptCounts(model.channels, std::vector<double>(model.channels.groups.size(), 0.0));
  // A step with the batch that the front's cost model was fitted to.
  const auto seconds = [&](CostFeatures features) {
    features.macs *= static_cast<double>(options.front->batch);
    features.activations *= static_cast<double>(options.front->batch);
    return options.front->cost_model.Seconds(features);
  };
  const CostFeatures whole = costs.FeaturesOf(all);
  if (by_time && !(seconds(whole) > 0)) {
    return InvalidArgument(
        "cost = \"time\" needs a front with a cost model, and this front has none; explore it again with "
        "this version, or use cost = \"macs\"");
  }
  DropoutMenu menu;
  menu.method_ = options.method;
  menu.channels_ = options.channels;
  menu.groups_ = model.channels;
  for (const std::vector<double>& rates : RatesToChooseFrom(model, options)) {
    Entry entry{KeptCounts(model.channels, rates), {}, 1, 1};
    if (!menu.entries_.empty() && menu.entries_.back().kept == entry.kept) continue;
    entry.features = costs.FeaturesOf(entry.kept);
    entry.macs = whole.macs > 0 ? entry.features.macs / whole.macs : 1;
    entry.cost = by_time ? seconds(entry.features) / seconds(whole) : entry.macs;
    menu.entries_.push_back(std::move(entry));
  }
  return menu;
}

std::size_t DropoutMenu::BestFit(const std::function<bool(const Entry&)>& fits) const {
  for (std::size_t i = entries_.size(); i-- > 1;) {
    if (fits(entries_[i])) return i;
  }
  return 0;
}

FilterScaling ScalingOf(const DropoutOptions& options, const Graph& graph) {
  if (options.scaling == ScalingChoice::kAuto) return SuitableScaling(graph);
  return options.scaling == ScalingChoice::kNone ? FilterScaling::kNone : FilterScaling::kInverse;
}

}  // namespace tributary::inline policy
