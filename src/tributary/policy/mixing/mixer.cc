#include "tributary/policy/mixing/mixer.h"

#include <algorithm>
#include <utility>

#include "tributary/base/apportion.h"

namespace tributary::inline policy {

StatusOr<Mixer> Mixer::Make(const MixingOptions& options, std::size_t nodes, std::uint64_t seed) {
  TRIBUTARY_ASSIGN_OR_RETURN(Topology topology, MakeTopology(options.topology, nodes, seed));
  Mixer mixer(std::move(topology), seed);
  if (options.rule == MixingRule::kMatcha) {
    TRIBUTARY_ASSIGN_OR_RETURN(mixer.matcha_, PlanMatcha(mixer.topology_, {options.budget}));
  }
  return mixer;
}

std::vector<std::vector<Neighbour>> Mixer::Weights(std::uint64_t round) const {
  if (!matcha_) return MetropolisWeights(topology_);
  return MatchaWeights(*matcha_, ActiveEdges(*matcha_, seed_, round), topology_.nodes);
}

std::vector<std::size_t> SpeedBatches(std::size_t batch, std::span<const double> speeds) {
  std::vector<std::size_t> batches = DivideByShares(batch * speeds.size(), speeds);
  for (std::size_t& samples : batches) samples = std::max<std::size_t>(samples, 1);
  return batches;
}

}  // namespace tributary::inline policy
