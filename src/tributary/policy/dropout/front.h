#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/model/model.h"
#include "tributary/policy/dropout/cost_model.h"

namespace tributary::inline policy {

// The result of an exploration: sub-networks of which none is both cheaper and better than another. At run
// time, a device looks up the best sub-network that it can afford.

// How the cost of a sub-network is measured.
enum class FrontCost {
  kTime,  // milliseconds of a training step
  kMacs,  // forward MACs per sample
};
constexpr std::string_view NameOf(FrontCost cost) { return cost == FrontCost::kTime ? "time" : "macs"; }
StatusOr<FrontCost> ParseFrontCost(std::string_view name);

// Which channels of a group a step keeps, given their number.
enum class ChannelChoice {
  kRandom,  // a random set at each step
  kFirst,   // the first channels, so that smaller choices are nested in larger ones
};
constexpr std::string_view NameOf(ChannelChoice channels) {
  return channels == ChannelChoice::kFirst ? "first" : "random";
}
StatusOr<ChannelChoice> ParseChannelChoice(std::string_view name);

struct FrontPoint {
  std::vector<double> dropout;  // one rate per channel group, at least 0 and below 1
  double macs = 0;
  double time_ms = 0;
  // Loss of the full network after a short training with this dropout; smaller is better.
  double convergence = 0;

  double Cost(FrontCost by) const { return by == FrontCost::kTime ? time_ms : macs; }
  friend bool operator==(const FrontPoint&, const FrontPoint&) = default;
};

struct ParetoFront {
  struct Group {
    std::string name;
    std::int64_t channels = 0;
    friend bool operator==(const Group&, const Group&) = default;
  };

  std::string model;
  std::vector<Group> groups;  // as FindChannelGroups returns them
  FrontCost cost = FrontCost::kTime;
  ChannelChoice channels = ChannelChoice::kRandom;  // the choice used in the exploration
  std::size_t batch = 0;                            // batch size of the step that takes time_ms
  CostModel cost_model;  // of such a step on the exploring machine, from the features of the whole batch
  // Convergence without training: a worse point did harm. Empty if the file does not contain it.
  std::optional<double> untrained;
  // By ascending cost and, except for the last point, descending convergence; all but the first and the last
  // are below `untrained`. The first is the cheapest sub-network, even if it did harm, so that every device
  // has a choice. The last is the full network, even if a sub-network had a better convergence.
  std::vector<FrontPoint> points;

  // The most expensive point within the budget, which is also the best one except perhaps the full network.
  // nullptr if no point is cheap enough or the budget is NaN. Binary search.
  const FrontPoint* BestFit(double budget) const;
};

// Checks the invariants of `points`.
Status CheckFront(const ParetoFront& front);
// Checks that the front was explored for a network with these channel groups.
Status CheckFrontFits(const ParetoFront& front, const Model& model);

// Builds a front, sorted by cost, from points in any order: the cheapest, the points that no other dominates
// (the first of equals) and that beat no training, and `full` last; without points as expensive as `full`.
std::vector<FrontPoint> FrontOf(std::vector<FrontPoint> all, const FrontPoint& full, FrontCost cost,
                                std::optional<double> untrained = std::nullopt);

}  // namespace tributary::inline policy
