#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/ids.h"
#include "tributary/base/rng.h"
#include "tributary/model/channel_groups.h"
#include "tributary/policy/dropout/menu.h"

namespace tributary::inline policy {

// How long a step may take: an equal share of the time that is left for the steps that are left, this one included. So if
// each step keeps to its slot, the last one ends in time; and one that took longer leaves less to the others.
inline Duration StepSlot(Duration left, std::size_t steps) { return left / static_cast<std::int64_t>(steps); }

// Fraction of the round kept as slack, because step times are estimates: steps differ, and the operating system shares
// the processors among processes.
inline constexpr double kTimeReserve = 0.05;

// The channels that a step of this round trains, if it trains this entry of the menu. Those of a method that is fixed in a
// round are the same at every step: whoever knows the entry knows them.
KeptAtoms AtomsOf(const DropoutMenu& menu, const ChoiceKey& key, std::uint64_t step, std::size_t entry);

// What one device trains in one round, step by step.
class RoundChoice {
 public:
  // The menu must outlive it.
  RoundChoice(const DropoutMenu& menu, const ChoiceKey& key) : menu_(menu), key_(key) {}

  // The entry of the menu for the next step, which is about to begin. `fits` is whether it and those that follow can all be
  // such steps in the time that is left, with what the device has now. Asked at every step where the method may choose
  // anew, and at the first one otherwise.
  std::size_t Next(const std::function<bool(const DropoutMenu::Entry&)>& fits);

  // Of the steps up to now.
  const std::vector<std::uint32_t>& chosen() const { return chosen_; }
  KeptAtoms Atoms(std::uint64_t step) const { return AtomsOf(menu_, key_, step, chosen_[step]); }
  const DropoutMenu& menu() const { return menu_; }

 private:
  const DropoutMenu& menu_;
  const ChoiceKey key_;
  std::size_t most_ = 0;  // of a method that looks once
  std::vector<std::uint32_t> chosen_;
};

// What was chosen, for people: the share of the multiply-accumulates that steps of these entries kept, on average.
double MeanMacs(const DropoutMenu& menu, const std::vector<std::uint32_t>& chosen);

}  // namespace tributary::inline policy
