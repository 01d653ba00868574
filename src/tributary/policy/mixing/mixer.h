#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/policy/mixing/matcha.h"
#include "tributary/policy/mixing/metropolis.h"
#include "tributary/policy/mixing/mixing_options.h"
#include "tributary/policy/mixing/topology.h"

namespace tributary {

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

}  // namespace tributary
