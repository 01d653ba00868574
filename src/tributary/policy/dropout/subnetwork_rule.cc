#include "tributary/policy/dropout/subnetwork_rule.h"

#include <algorithm>

#include "tributary/base/check.h"

namespace tributary::inline policy {

#define RULE(name) SubnetworkRule name();
#include "tributary/policy/dropout/subnetwork_rules.inc"
#undef RULE

const std::vector<DropoutMethod>& SubnetworkRules() {
  static const std::vector<DropoutMethod> kRules = {
#define RULE(name) std::make_shared<const SubnetworkRule>(name()),
#include "tributary/policy/dropout/subnetwork_rules.inc"
#undef RULE
  };
  return kRules;
}

const DropoutMethod& SubnetworkRuleNamed(std::string_view name) {
  const auto found =
      std::ranges::find(SubnetworkRules(), name, [](const DropoutMethod& rule) { return rule->name; });
  TRIBUTARY_CHECK(found != SubnetworkRules().end());
  return *found;
}

KeptAtoms ChooseAtoms(const ChannelGroups& groups, std::span<const std::int64_t> counts,
                      const std::function<void(std::vector<std::int32_t>&, std::size_t)>& choose) {
  TRIBUTARY_CHECK(counts.size() == groups.groups.size());
  KeptAtoms kept = AllAtoms(groups);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    TRIBUTARY_CHECK(counts[i] >= 1 && counts[i] <= groups.groups[i].atoms);
    choose(kept[i], static_cast<std::size_t>(counts[i]));
  }
  return kept;
}

KeptAtoms RandomAtoms(const ChannelGroups& groups, std::span<const std::int64_t> counts, Rng& rng) {
  return ChooseAtoms(groups, counts, [&](std::vector<std::int32_t>& atoms, std::size_t count) {
    // The first `count` steps of a shuffle give a random set of that size.
    for (std::size_t i = 0; i < count && count < atoms.size(); ++i) {
      std::swap(atoms[i], atoms[i + static_cast<std::size_t>(rng.Below(atoms.size() - i))]);
    }
    atoms.resize(count);
    std::ranges::sort(atoms);
  });
}

KeptAtoms FirstAtoms(const ChannelGroups& groups, std::span<const std::int64_t> counts) {
  return ChooseAtoms(groups, counts,
                     [](std::vector<std::int32_t>& atoms, std::size_t count) { atoms.resize(count); });
}

KeptAtoms RollingAtoms(const ChannelGroups& groups, std::span<const std::int64_t> counts,
                       std::uint64_t shift) {
  return ChooseAtoms(groups, counts, [&](std::vector<std::int32_t>& atoms, std::size_t count) {
    std::rotate(atoms.begin(), atoms.begin() + static_cast<std::ptrdiff_t>(shift % atoms.size()),
                atoms.end());
    atoms.resize(count);
    std::ranges::sort(atoms);
  });
}

namespace {

KeptAtoms RandomChannels(const ChannelScene& scene) {
  Rng rng = scene.Random();
  return RandomAtoms(scene.groups, scene.counts, rng);
}

KeptAtoms FirstChannels(const ChannelScene& scene) { return FirstAtoms(scene.groups, scene.counts); }

}  // namespace

SubnetworkRule FullRule() {
  return {.name = "full", .about = "the whole network", .menu = SubnetworkRule::Menu::kWhole};
}

SubnetworkRule SmallRule() {
  return {
      .name = "small", .about = "one small network for all devices", .menu = SubnetworkRule::Menu::kNarrow};
}

// Federated Dropout (Caldas et al., 2018).
SubnetworkRule UniformRule() {
  return {
      .name = "uniform", .about = "Federated Dropout: random channels of one width", .make = RandomChannels};
}

SubnetworkRule HeteroFlRule() {
  return {
      .name = "heterofl", .about = "HeteroFL: fixed width per device", .make = FirstChannels, .nested = true};
}

SubnetworkRule FjordRule() {
  return {.name = "fjord",
          .about = "FjORD: ordered dropout within a round",
          .choice = SubnetworkRule::Choice::kRandomUpTo,
          .make = FirstChannels,
          .nested = true};
}

SubnetworkRule FedRolexRule() {
  return {.name = "fedrolex", .about = "FedRolex: rolling window of channels", .make = [](const auto& scene) {
            return RollingAtoms(scene.groups, scene.counts, scene.key.round.value - 1);
          }};
}

// The key dropout.channels selects the channels.
SubnetworkRule ParetoRule() {
  return {.name = "pareto",
          .about = "DISTREAL: Pareto-optimal sub-network at run time",
          .menu = SubnetworkRule::Menu::kFront,
          .choice = SubnetworkRule::Choice::kStep,
          .make = [](const ChannelScene& scene) {
            return scene.channels == ChannelChoice::kFirst ? FirstChannels(scene) : RandomChannels(scene);
          }};
}

}  // namespace tributary::inline policy
