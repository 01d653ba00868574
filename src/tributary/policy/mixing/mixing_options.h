#pragma once

#include <string_view>

#include "tributary/policy/mixing/topology.h"

namespace tributary {

// How the models of neighbours are mixed.
enum class MixingRule {
  kMetropolis,  // D-PSGD: over all edges at each exchange, weighed by Metropolis and Hastings
  kMatcha,      // MATCHA: over matchings that are active by chance, within a budget
};
inline constexpr MixingRule kMixingRules[] = {MixingRule::kMetropolis, MixingRule::kMatcha};
std::string_view NameOf(MixingRule rule);

struct MixingOptions {
  MixingRule rule = MixingRule::kMetropolis;
  TopologyOptions topology;
  // matcha: the share of matchings that are active at an exchange, expected. Less sends less and agrees more slowly.
  double budget = 0.5;

  friend bool operator==(const MixingOptions&, const MixingOptions&) = default;
};

}  // namespace tributary
