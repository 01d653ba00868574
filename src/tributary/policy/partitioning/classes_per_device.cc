#include "tributary/policy/partitioning/classes_per_device.h"

#include "tributary/policy/partitioning/class_holders.h"

namespace tributary {

StatusOr<Partition> SplitClassesPerDevice(const SamplesByClass& classes, std::size_t devices,
                                          std::size_t per_device, Rng& rng) {
  TRIBUTARY_ASSIGN_OR_RETURN(const auto holders, AssignClasses(classes, devices, per_device, rng));
  Partition partition(devices);
  for (std::size_t c = 0; c < classes.size(); ++c) {
    if (classes[c].empty()) continue;
    Deal(classes[c], DivideEvenly(classes[c].size(), holders[c].size()), holders[c], rng, partition);
  }
  SortIndices(partition);
  return partition;
}

}  // namespace tributary
