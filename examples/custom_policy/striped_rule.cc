#include "striped_rule.h"

#include <algorithm>
#include <vector>

tributary::SubnetworkRule StripedRule() {
  using namespace tributary;
  return {.name = "striped",
          .about = "channels spread evenly over each layer",
          .make = [](const ChannelScene& scene) {
            const std::size_t shift = scene.key.device.value + scene.key.round.value;
            return ChooseAtoms(scene.groups, scene.counts,
                               [shift](std::vector<std::int32_t>& atoms, std::size_t count) {
                                 const std::vector<std::int32_t> all = atoms;
                                 for (std::size_t i = 0; i < count; ++i)
                                   atoms[i] = all[(shift + i * all.size() / count) % all.size()];
                                 atoms.resize(count);
                                 std::sort(atoms.begin(), atoms.end());
                               });
          }};
}
