#pragma once
#include "tributary/policy/mixing/topology.h"
namespace tributary {
enum class MixingRule { kMetropolis, kMatcha };
struct MixingOptions { MixingRule rule = MixingRule::kMetropolis; TopologyOptions topology; double budget = 0.5; friend bool operator==(const MixingOptions&, const MixingOptions&) = default; };
}
