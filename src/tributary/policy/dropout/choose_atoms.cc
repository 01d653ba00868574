#include "tributary/policy/dropout/choose_atoms.h"

#include <algorithm>
#include <numeric>

#include "tributary/base/check.h"

namespace tributary {
namespace {

// Calls choose(atoms of the group, how many to keep) for each group; it leaves those kept.
template <typename Choose>
KeptAtoms ForEachGroup(const ChannelGroups& groups, std::span<const std::int64_t> counts,
                       const Choose& choose) {
  TRIBUTARY_CHECK(counts.size() == groups.groups.size());
  KeptAtoms kept = AllAtoms(groups);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    TRIBUTARY_CHECK(counts[i] >= 1 && counts[i] <= groups.groups[i].atoms);
    choose(kept[i], static_cast<std::size_t>(counts[i]));
  }
  return kept;
}

}  // namespace

KeptAtoms RandomAtoms(const ChannelGroups& groups, std::span<const std::int64_t> counts, Rng& rng) {
  return ForEachGroup(groups, counts, [&](std::vector<std::int32_t>& atoms, std::size_t count) {
    // The first `count` steps of a shuffle are a set of that size.
    for (std::size_t i = 0; i < count && count < atoms.size(); ++i) {
      std::swap(atoms[i], atoms[i + static_cast<std::size_t>(rng.Below(atoms.size() - i))]);
    }
    atoms.resize(count);
    std::ranges::sort(atoms);
  });
}

KeptAtoms FirstAtoms(const ChannelGroups& groups, std::span<const std::int64_t> counts) {
  return ForEachGroup(groups, counts,
                      [](std::vector<std::int32_t>& atoms, std::size_t count) { atoms.resize(count); });
}

KeptAtoms RollingAtoms(const ChannelGroups& groups, std::span<const std::int64_t> counts,
                       std::uint64_t shift) {
  return ForEachGroup(groups, counts, [&](std::vector<std::int32_t>& atoms, std::size_t count) {
    std::rotate(atoms.begin(), atoms.begin() + static_cast<std::ptrdiff_t>(shift % atoms.size()),
                atoms.end());
    atoms.resize(count);
    std::ranges::sort(atoms);
  });
}

}  // namespace tributary
