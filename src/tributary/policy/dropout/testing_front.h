#pragma once

#include <memory>
#include <vector>

#include "tributary/model/channel_groups.h"
#include "tributary/policy/dropout/cost_model.h"
#include "tributary/policy/dropout/front.h"

namespace tributary::testing {

// A front of this network with points whose rates lie around these, highest first, in every group another one; the full
// network last.
inline std::shared_ptr<const ParetoFront> FrontFor(const Model& model, const std::vector<double>& rates) {
  auto front = std::make_shared<ParetoFront>();
  front->model = model.graph.name();
  front->cost = FrontCost::kMacs;
  front->batch = 8;
  front->cost_model = {1e-3, 1e-9, 1e-9};
  for (const auto& group : model.channels.groups) front->groups.push_back({group.name, group.channels});
  const SubnetworkCosts costs(model);
  const auto add = [&](std::vector<double> dropout) {
    const std::vector<std::int64_t> kept = KeptCounts(model.channels, dropout);
    const auto convergence = 10.0 - static_cast<double>(front->points.size());
    front->points.push_back({std::move(dropout), static_cast<double>(costs.MacsOf(kept)), 1, convergence});
    front->points.back().time_ms = 1 + static_cast<double>(front->points.size());
  };
  for (const double rate : rates) {
    std::vector<double> dropout;
    for (std::size_t i = 0; i < front->groups.size(); ++i) dropout.push_back(i % 2 == 0 ? rate : rate / 2);
    add(std::move(dropout));
  }
  add(std::vector<double>(front->groups.size(), 0.0));
  return front;
}

}  // namespace tributary::testing
