#include "tributary/policy/partitioning/extended_dirichlet.h"

#include "tributary/base/distributions.h"
#include "tributary/policy/partitioning/class_holders.h"

namespace tributary {

StatusOr<Partition> SplitExtendedDirichlet(const SamplesByClass& classes, std::size_t devices,
                                           std::size_t per_device, double alpha, Rng& rng) {
  TRIBUTARY_ASSIGN_OR_RETURN(const auto holders, AssignClasses(classes, devices, per_device, rng));
  Partition partition(devices);
  for (std::size_t c = 0; c < classes.size(); ++c) {
    if (classes[c].empty()) continue;
    const std::vector<double> concentrations(holders[c].size(), alpha);
    const std::vector<double> shares = Dirichlet(rng, concentrations);
    std::vector<std::size_t> counts = DivideByShares(classes[c].size() - holders[c].size(), shares);
    for (std::size_t& count : counts) ++count;
    Deal(classes[c], counts, holders[c], rng, partition);
  }
  SortIndices(partition);
  return partition;
}

}  // namespace tributary
