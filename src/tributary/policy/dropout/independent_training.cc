#include <algorithm>

#include "tributary/policy/dropout/subnetwork_rule.h"

namespace tributary::inline policy {
namespace {

// All devices shuffle the channels identically in each round, and each takes its own window of the result.
KeptAtoms DisjointChannels(const ChannelScene& scene) {
  Rng rng = Rng::ForStream(scene.key.seed, DeviceId{0}, "partition", scene.draw);
  return ChooseAtoms(scene.groups, scene.counts, [&](std::vector<std::int32_t>& atoms, std::size_t count) {
    for (std::size_t i = atoms.size(); i > 1; --i) std::swap(atoms[i - 1], atoms[rng.Below(i)]);
    const std::size_t begin = static_cast<std::size_t>(scene.key.device.value) * count % atoms.size();
    std::rotate(atoms.begin(), atoms.begin() + static_cast<std::ptrdiff_t>(begin), atoms.end());
    atoms.resize(count);
    std::ranges::sort(atoms);
  });
}

}  // namespace

// Independent Subnet Training (Yuan et al., 2022): each round partitions the channels randomly among the
// devices. Here widths may differ; windows then overlap, as they do when the channels run out.
SubnetworkRule IndependentTrainingRule() {
  return {.name = "ist",
          .about = "Independent Subnet Training: disjoint random channels",
          .make = DisjointChannels};
}

}  // namespace tributary::inline policy
