#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/ids.h"
#include "tributary/base/rng.h"
#include "tributary/model/channel_groups.h"
#include "tributary/policy/dropout/front.h"

namespace tributary::inline policy {

// Which atoms of each channel group a sub-network keeps, given their number (KeptCounts).

// A uniformly random set of that size: Federated Dropout and DISTREAL.
KeptAtoms RandomAtoms(const ChannelGroups& groups, std::span<const std::int64_t> counts, Rng& rng);

// The first atoms, so that smaller sub-networks are nested in larger ones: HeteroFL and FjORD.
KeptAtoms FirstAtoms(const ChannelGroups& groups, std::span<const std::int64_t> counts);

// A window that starts at atom `shift` and wraps around: FedRolex, which shifts by one each round.
KeptAtoms RollingAtoms(const ChannelGroups& groups, std::span<const std::int64_t> counts,
                       std::uint64_t shift);

// Calls choose(atoms of the group, number to keep) for each group; `choose` leaves the kept atoms, ascending.
KeptAtoms ChooseAtoms(const ChannelGroups& groups, std::span<const std::int64_t> counts,
                      const std::function<void(std::vector<std::int32_t>&, std::size_t)>& choose);

// The device and the round: everything that random choices depend on.
struct ChoiceKey {
  std::uint64_t seed = 1;
  DeviceId device;
  RoundId round{1};
};

// The input of a rule for one step.
struct ChannelScene {
  const ChannelGroups& groups;
  std::span<const std::int64_t> counts;  // atoms to keep, per group
  ChoiceKey key;
  std::uint64_t draw = 0;  // differs between steps, or only between rounds if the rule is fixed in a round
  ChannelChoice channels = ChannelChoice::kRandom;  // the key dropout.channels

  Rng Random() const { return Rng::ForStream(key.seed, key.device, "channels", draw); }
};

// A sub-network rule and its name in experiment files: `[dropout] method = "NAME"`.
struct SubnetworkRule {
  // What devices train, or choose from by their available time (round_choice.h).
  enum class Menu {
    kWhole,   // every device trains the whole network
    kNarrow,  // every device trains the whole of a narrower network (dropout.width)
    kWidths,  // sub-networks of one width in all layers (dropout.widths)
    kFront,   // sub-networks of an explored front (dropout.front)
  };
  // When a device chooses from the menu.
  enum class Choice {
    kRound,       // once per round: all steps train the same channels
    kRandomUpTo,  // at each step, uniformly among what it could afford at the start of the round
    kStep,        // at each step, the best that it can afford then
  };

  std::string name;
  std::string about;
  Menu menu = Menu::kWidths;
  Choice choice = Choice::kRound;
  // The channels of a step, a function of the scene alone: with Choice::kRound the coordinator calls it too.
  std::function<KeptAtoms(const ChannelScene&)> make = nullptr;
  // Whether the channels follow from `counts` alone.
  bool nested = false;

  bool TrainsWhole() const { return menu == Menu::kWhole; }
  bool ChoosesWidths() const { return menu == Menu::kWidths; }
  bool ChoosesFromFront() const { return menu == Menu::kFront; }
  // Whether devices choose from a menu (round_choice.h), by their available time.
  bool Chooses() const { return ChoosesWidths() || ChoosesFromFront(); }
  // Whether a device trains the same channels in all steps of a round.
  bool IsFixedInRound() const { return Chooses() && choice == Choice::kRound; }
};

// A rule of SubnetworkRules(), or an extension of the program.
using DropoutMethod = std::shared_ptr<const SubnetworkRule>;

// The built-in rules, the default first. To add one: a file with a function, a line in subnetwork_rules.inc.
const std::vector<DropoutMethod>& SubnetworkRules();
// The built-in rule of this name, which must exist.
const DropoutMethod& SubnetworkRuleNamed(std::string_view name);

}  // namespace tributary::inline policy
