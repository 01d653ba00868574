#include "tributary/policy/dropout/round_choice.h"

#include <algorithm>
#include <numeric>

#include "tributary/base/check.h"

namespace tributary::inline policy {
namespace {

// A number of its own for every step of a run; no round has as many.
std::uint64_t NumberOf(RoundId round, std::uint64_t step) { return (round.value << 24) + step; }

}  // namespace

KeptAtoms AtomsOf(const DropoutMenu& menu, const ChoiceKey& key, std::uint64_t step, std::size_t entry) {
  TRIBUTARY_CHECK(entry < menu.entries().size());
  return menu.method()->make({.groups = menu.groups(),
                              .counts = menu.entries()[entry].kept,
                              .key = key,
                              .draw = NumberOf(key.round, menu.method()->IsFixedInRound() ? 0 : step),
                              .channels = menu.channels()});
}

std::size_t RoundChoice::Next(const std::function<bool(const DropoutMenu::Entry&)>& fits) {
  const std::uint64_t step = chosen_.size();
  const auto choice = menu_.method()->choice;
  if (step == 0 || choice == SubnetworkRule::Choice::kStep) most_ = menu_.BestFit(fits);
  std::size_t entry = most_;
  if (choice == SubnetworkRule::Choice::kRandomUpTo) {
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
