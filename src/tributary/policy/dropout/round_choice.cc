#include "tributary/policy/dropout/round_choice.h"

#include <algorithm>
#include <numeric>

#include "tributary/base/check.h"

namespace tributary::inline policy {
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

// A number of its own for every step of a run; no round has as many.
std::uint64_t NumberOf(RoundId round, std::uint64_t step) { return (round.value << 24) + step; }

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

KeptAtoms AtomsOf(const DropoutMenu& menu, const ChoiceKey& key, std::uint64_t step, std::size_t entry) {
  TRIBUTARY_CHECK(entry < menu.entries().size());
  const std::vector<std::int64_t>& kept = menu.entries()[entry].kept;
  switch (menu.method()) {
    case DropoutMethod::kHeteroFl:
    case DropoutMethod::kFjord:
      return FirstAtoms(menu.groups(), kept);
    case DropoutMethod::kFedRolex:
      return RollingAtoms(menu.groups(), kept, key.round.value - 1);
    case DropoutMethod::kPareto:
      if (menu.channels() == ChannelChoice::kFirst) return FirstAtoms(menu.groups(), kept);
      break;
    default:
      break;
  }
  const std::uint64_t number = NumberOf(key.round, IsFixedInRound(menu.method()) ? 0 : step);
  Rng rng = Rng::ForStream(key.seed, key.device, "channels", number);
  return RandomAtoms(menu.groups(), kept, rng);
}

std::size_t RoundChoice::Next(const std::function<bool(const DropoutMenu::Entry&)>& fits) {
  const std::uint64_t step = chosen_.size();
  if (step == 0 || menu_.method() == DropoutMethod::kPareto) most_ = menu_.BestFit(fits);
  std::size_t entry = most_;
  if (menu_.method() == DropoutMethod::kFjord) {
    Rng rng = Rng::ForStream(key_.seed, key_.device, "width", NumberOf(key_.round, step));
    entry = static_cast<std::size_t>(rng.Below(most_ + 1));
  }
  chosen_.push_back(static_cast<std::uint32_t>(entry));
  return entry;
}

double MeanMacs(const DropoutMenu& menu, const std::vector<std::uint32_t>& chosen) {
  double sum = 0;
  for (const std::uint32_t entry : chosen) sum += menu.entries()[entry].macs;
  return chosen.empty() ? 0 : sum / static_cast<double>(chosen.size());
}

}  // namespace tributary::inline policy
