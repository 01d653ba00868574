#include "tributary/policy/dropout/front.h"

#include <algorithm>
#include <cmath>

#include "tributary/base/names.h"
#include "tributary/base/number_text.h"

namespace tributary::inline policy {
namespace {

Status CheckFrontPoint(const FrontPoint& point, std::size_t groups) {
  if (point.dropout.size() != groups) {
    return InvalidArgument("it has " + std::to_string(point.dropout.size()) +
                           " dropout rates, and there are " + std::to_string(groups) + " channel groups");
  }
  for (std::size_t i = 0; i < groups; ++i) {
    if (point.dropout[i] >= 0 && point.dropout[i] < 1) continue;
    return InvalidArgument("the dropout rate of group " + std::to_string(i) + " is " +
                           NumberText(point.dropout[i]) + "; rates are at least 0 and below 1");
  }
  for (const auto& [name, value] :
       {std::pair{"macs", point.macs}, {"time_ms", point.time_ms}, {"convergence", point.convergence}}) {
    if (std::isfinite(value) && value >= 0) continue;
    return InvalidArgument(std::string("its '") + name + "' is " + NumberText(value) +
                           ", not a finite number of at least 0");
  }
  return OkStatus();
}

}  // namespace

StatusOr<FrontCost> ParseFrontCost(std::string_view name) {
  constexpr FrontCost kCosts[] = {FrontCost::kTime, FrontCost::kMacs};
  return ParseName("cost", kCosts, name);
}

StatusOr<ChannelChoice> ParseChannelChoice(std::string_view name) {
  constexpr ChannelChoice kChoices[] = {ChannelChoice::kRandom, ChannelChoice::kFirst};
  return ParseName("choice of channels", kChoices, name);
}

const FrontPoint* ParetoFront::BestFit(double budget) const {
  const auto above = std::partition_point(points.begin(), points.end(), [&](const FrontPoint& point) {
    return point.Cost(cost) <= budget;  // false for NaN
  });
  return above == points.begin() ? nullptr : &*(above - 1);
}

Status CheckFront(const ParetoFront& front) {
  if (front.points.empty())
    return InvalidArgument("the front has no points; it must contain at least the full network");
  if (front.untrained && !(std::isfinite(*front.untrained) && *front.untrained >= 0)) {
    return InvalidArgument("the loss 'untrained' is " + NumberText(*front.untrained) +
                           ", not a finite number of at least 0");
  }
  for (std::size_t i = 0; i < front.points.size(); ++i) {
    const FrontPoint& point = front.points[i];
    const std::string where = "point " + std::to_string(i) + " of the front";
    TRIBUTARY_RETURN_IF_ERROR(CheckFrontPoint(point, front.groups.size()).WithContext(where));
    const bool last = i + 1 == front.points.size();
    if (last && std::ranges::any_of(point.dropout, [](double rate) { return rate != 0; })) {
      return InvalidArgument(where + " is the last and must be the full network: all its rates must be 0");
    }
    if (i == 0) continue;
    const FrontPoint& before = front.points[i - 1];
    if (!(point.Cost(front.cost) > before.Cost(front.cost))) {
      return InvalidArgument(where + " costs " + NumberText(point.Cost(front.cost)) +
                             " and the point before it " + NumberText(before.Cost(front.cost)) +
                             "; points are sorted by ascending " + std::string(NameOf(front.cost)));
    }
    if (!last && !(point.convergence < before.convergence)) {
      return InvalidArgument(where + " costs more than the point before it and does not converge better (" +
                             NumberText(point.convergence) + " after " + NumberText(before.convergence) +
                             ")");
    }
    if (!last && front.untrained && !(point.convergence < *front.untrained)) {
      return InvalidArgument(where + " has a convergence of " + NumberText(point.convergence) +
                             ", which is not better than without training, " + NumberText(*front.untrained) +
                             "; only the cheapest point may be so");
    }
  }
  return OkStatus();
}

Status CheckFrontFits(const ParetoFront& front, const Model& model) {
  const auto& groups = model.channels.groups;
  const std::string asked = "the network " + model.graph.name();
  if (front.groups.size() != groups.size()) {
    return InvalidArgument("the front was explored for " + front.model + " with " +
                           std::to_string(front.groups.size()) + " channel groups; " + asked + " has " +
                           std::to_string(groups.size()) +
                           ". Explore this network, or name the network that the front is for");
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const ParetoFront::Group& found = front.groups[i];
    if (found.name == groups[i].name && found.channels == groups[i].channels) continue;
    return InvalidArgument("the front was explored for " + front.model + ", whose channel group " +
                           std::to_string(i) + " is " + found.name + " with " +
                           std::to_string(found.channels) + " channels; in " + asked + " it is " +
                           groups[i].name + " with " + std::to_string(groups[i].channels) +
                           ". Explore this network, or name the network that the front is for");
  }
  return OkStatus();
}

std::vector<FrontPoint> FrontOf(std::vector<FrontPoint> all, const FrontPoint& full, FrontCost cost,
                                std::optional<double> untrained) {
  std::ranges::stable_sort(all, [&](const FrontPoint& a, const FrontPoint& b) {
    return a.Cost(cost) != b.Cost(cost) ? a.Cost(cost) < b.Cost(cost) : a.convergence < b.convergence;
  });
  std::vector<FrontPoint> front;
  for (FrontPoint& point : all) {
    if (point.Cost(cost) >= full.Cost(cost)) break;
    const bool useful = !untrained || point.convergence < *untrained;
    if (front.empty() || (useful && point.convergence < front.back().convergence))
      front.push_back(std::move(point));
  }
  front.push_back(full);
  return front;
}

}  // namespace tributary::inline policy
