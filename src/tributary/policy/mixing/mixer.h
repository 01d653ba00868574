#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/policy/mixing/matcha.h"
#include "tributary/policy/mixing/topology.h"

namespace tributary::inline policy {

// How the models of neighbours are mixed.
enum class MixingRule {
  kMetropolis,  // D-PSGD: over all edges at each exchange, weighed by Metropolis and Hastings
  kMatcha,      // MATCHA: over matchings that are active by chance, within a budget
};
inline constexpr MixingRule kMixingRules[] = {MixingRule::kMetropolis, MixingRule::kMatcha};
constexpr std::string_view NameOf(MixingRule rule) {
  return rule == MixingRule::kMatcha ? "matcha" : "d-psgd";
}

struct MixingOptions {
  MixingRule rule = MixingRule::kMetropolis;
  TopologyOptions topology;
  // matcha: the share of matchings that are active at an exchange, expected. Less sends less and agrees more slowly.
  double budget = 0.5;

  friend bool operator==(const MixingOptions&, const MixingOptions&) = default;
};

// Who takes how much of whose model, exchange after exchange. Safe to use from several threads.
class Mixer {
 public:
  // A function of its arguments. Refuses what MakeTopology and, for matcha, PlanMatcha refuse, in their words.
  static StatusOr<Mixer> Make(const MixingOptions& options, std::size_t nodes, std::uint64_t seed);

  // For each node its neighbours at this exchange, ascending, and what it takes of each; SelfWeight is what it keeps
  // of its own. Symmetric, and rows sum to one. Under matcha a function of (seed, round); rows may be empty and
  // SelfWeight negative (matcha.h).
  std::vector<std::vector<Neighbour>> Weights(std::uint64_t round) const;

  const Topology& topology() const { return topology_; }
  const std::optional<MatchaPlan>& matcha() const { return matcha_; }  // There under matcha alone.

 private:
  Mixer(Topology topology, std::uint64_t seed) : topology_(std::move(topology)), seed_(seed) {}

  Topology topology_;
  std::uint64_t seed_;
  std::optional<MatchaPlan> matcha_;
};

// Batches in proportion to speed, so that all devices take as long for a step: `batch` samples on average, to the sample
// by largest remainder, and at least one for each. Speeds are positive and finite.
std::vector<std::size_t> SpeedBatches(std::size_t batch, std::span<const double> speeds);

}  // namespace tributary::inline policy
