#include "tributary/policy/dropout/menu.h"

#include "tributary/base/check.h"
#include "tributary/model/channel_groups.h"
#include "tributary/policy/dropout/cost_model.h"

namespace tributary::inline policy {
namespace {

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

StatusOr<DropoutMenu> DropoutMenu::Make(const Model& model, const DropoutOptions& options) {
  TRIBUTARY_CHECK(options.method->Chooses());
  const bool by_time = options.cost == FrontCost::kTime;
  if (options.front) TRIBUTARY_RETURN_IF_ERROR(CheckFrontFits(*options.front, model));
  TRIBUTARY_CHECK(options.front || (!by_time && !options.method->ChoosesFromFront()));
  const SubnetworkCosts costs(model);
  const std::vector<std::int64_t> all =
      KeptCounts(model.channels, std::vector<double>(model.channels.groups.size(), 0.0));
  // Of a step with the batch that the front's cost model was fitted to.
  const auto seconds = [&](CostFeatures features) {
    features.macs *= static_cast<double>(options.front->batch);
    features.activations *= static_cast<double>(options.front->batch);
    return options.front->cost_model.Seconds(features);
  };
  const CostFeatures whole = costs.FeaturesOf(all);
  if (by_time && !(seconds(whole) > 0)) {
    return InvalidArgument(
        "the front has no cost model, so that cost = \"time\" has no meaning; explore it with"
        " this version, or use cost = \"macs\"");
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
  switch (options.scaling) {
    case ScalingChoice::kAuto:
      return SuitableScaling(graph);
    case ScalingChoice::kNone:
      return FilterScaling::kNone;
    case ScalingChoice::kInverse:
      return FilterScaling::kInverse;
  }
  return FilterScaling::kNone;
}

}  // namespace tributary::inline policy
