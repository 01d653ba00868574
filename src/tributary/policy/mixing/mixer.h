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

// How neighbours mix their models.
enum class MixingRule {
  kMetropolis,  // D-PSGD: over all edges at each exchange, with Metropolis-Hastings weights
  kMatcha,      // MATCHA: over randomly active matchings, within a budget
};
inline constexpr MixingRule kMixingRules[] = {MixingRule::kMetropolis, MixingRule::kMatcha};
constexpr std::string_view NameOf(MixingRule rule) {
  return rule == MixingRule::kMatcha ? "matcha" : "d-psgd";
}

struct MixingOptions {
  MixingRule rule = MixingRule::kMetropolis;
  TopologyOptions topology;
  // matcha: expected fraction of matchings active at an exchange. Smaller sends less and converges slower.
  double budget = 0.5;
  friend bool operator==(const MixingOptions&, const MixingOptions&) = default;
};

// The mixing weights of every exchange. Thread-safe.
class Mixer {
 public:
  // A function of its arguments. Fails as MakeTopology and, for matcha, PlanMatcha do.
  static StatusOr<Mixer> Make(const MixingOptions& options, std::size_t nodes, std::uint64_t seed);

  // The neighbours of each node at this exchange, ascending, with weights; SelfWeight is for its own model.
  // Symmetric; rows sum to one. With matcha (see matcha.h) rows may be empty and SelfWeight negative.
  std::vector<std::vector<Neighbour>> Weights(std::uint64_t round) const;
  const Topology& topology() const { return topology_; }
  const std::optional<MatchaPlan>& matcha() const { return matcha_; }  // only with matcha

 private:
  Mixer(Topology topology, std::uint64_t seed) : topology_(std::move(topology)), seed_(seed) {}

  Topology topology_;
  std::uint64_t seed_;
  std::optional<MatchaPlan> matcha_;
};

// Batches proportional to speed, so that all devices take equally long per step: `batch` samples on average,
// rounded by largest remainder, at least one each. Speeds are positive and finite.
std::vector<std::size_t> SpeedBatches(std::size_t batch, std::span<const double> speeds);

}  // namespace tributary::inline policy
