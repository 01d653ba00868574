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

// What an exploration found for one network: sub-networks of which none is both cheaper and better than another. A device
// looks up in it what it can afford now.

// What a sub-network costs is counted in one of these.
enum class FrontCost {
  kTime,  // milliseconds of a training step
  kMacs,  // multiply-accumulates of a sample forward
};
constexpr std::string_view NameOf(FrontCost cost) { return cost == FrontCost::kTime ? "time" : "macs"; }
StatusOr<FrontCost> ParseFrontCost(std::string_view name);

// Which channels of a group a step keeps, where it has been decided how many.
enum class ChannelChoice {
  kRandom,  // any, others at each step
  kFirst,   // the first ones, so that a smaller choice is part of every larger one
};
constexpr std::string_view NameOf(ChannelChoice channels) {
  return channels == ChannelChoice::kFirst ? "first" : "random";
}
StatusOr<ChannelChoice> ParseChannelChoice(std::string_view name);

struct FrontPoint {
  std::vector<double> dropout;  // a rate for each channel group, at least 0 and below 1
  double macs = 0;
  double time_ms = 0;
  double convergence =
      0;  // loss of the full network after a short training with this dropout: smaller is better

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
  std::vector<Group> groups;  // of channels, as FindChannelGroups gives them
  FrontCost cost = FrontCost::kTime;
  ChannelChoice channels = ChannelChoice::kRandom;  // those that its vectors were trained with
  std::size_t batch = 0;                            // samples of the step that takes time_ms
  CostModel cost_model;  // of such a step on the machine that explored, by the features of the whole batch
  // What the convergence of no training at all would be: who does not come below it has done harm. Not known of fronts
  // that do not say.
  std::optional<double> untrained;
  // By ascending cost and, but for the last, descending convergence; all but the first and the last below `untrained`.
  // The first is the cheapest there is, so that whoever has little finds something, also where it does harm: read its
  // convergence. The last is the full network, also where a sub-network did better in the short training that was looked
  // at.
  std::vector<FrontPoint> points;

  // The costliest point that costs no more than this, which is the best converging one too unless it is the full network;
  // nullptr where none is as cheap, and for a budget that is not a number. A binary search.
  const FrontPoint* BestFit(double budget) const;
};

// An error in words unless points are as described above.
Status CheckFront(const ParetoFront& front);
// An error in words unless it was explored for a network with these channel groups.
Status CheckFrontFits(const ParetoFront& front, const Model& model);

// The points of `all`, in any order, that make a front: those that no other dominates (of equal ones the first) and that
// did better than no training, the cheapest of all whatever it did, sorted, and `full` last. What costs at least as much
// as the full network is left out.
std::vector<FrontPoint> FrontOf(std::vector<FrontPoint> all, const FrontPoint& full, FrontCost cost,
                                std::optional<double> untrained = std::nullopt);

}  // namespace tributary::inline policy
