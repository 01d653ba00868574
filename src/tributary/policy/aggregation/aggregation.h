#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tributary/policy/aggregation/aggregator.h"

namespace tributary::inline model {
struct Model;
}

namespace tributary::inline policy {

struct DropoutOptions;

// A number that an experiment may give for a rule: its key, what it means in a sentence, its default and its range.
struct RuleNumber {
  std::string key;
  std::string about;
  double usual = 0;
  double low = 0;
  double high = 1;
};

// The parameters of the update that the coordinator learns from its own samples, with the assignment of the round.
using OwnUpdate = std::function<StatusOr<std::vector<float>>()>;

// What an aggregator is made for. Everything referred to must outlive it.
struct AggregationScene {
  const Model& model;
  UpdateStore& store;
  const DropoutOptions& dropout;
  std::uint64_t seed = 1;                // of the experiment
  std::span<const double> numbers = {};  // in the order of AggregationRule::numbers
  OwnUpdate own_update = {};             // for rules that compare updates with it
};

// A way to make one update of many, under the name that experiments call it by: `[aggregation] rule = "NAME"`. An element
// that top-k left out of an update counts as no change under every rule.
struct AggregationRule {
  // What it means that a device did not train an element, because it trained a sub-network.
  enum class Untrained {
    kLeftOut,  // the update has no say in the element, where the sub-network rule says so too
    kRefused,  // experiments with such updates are refused
  };

  std::string name;
  std::string about;
  std::function<StatusOr<std::unique_ptr<Aggregator>>(const AggregationScene&)> make;
  std::vector<RuleNumber> numbers{};
  Untrained untrained = Untrained::kRefused;
  // Whether updates may be of parts of the network, which add up to the whole: where it is split.
  bool takes_parts = false;
  // Whether it compares updates with the coordinator's own. Its first number is then the number of training samples that the
  // coordinator keeps for itself.
  bool compares_with_own = false;
};

// Those that every program has, the usual one first. A new rule is a file with a function that returns it, and a line in
// rules.inc.
const std::vector<std::shared_ptr<const AggregationRule>>& AggregationRules();

// [aggregation]
struct AggregationOptions {
  std::shared_ptr<const AggregationRule> rule = AggregationRules().front();
  std::vector<double> numbers{};  // in the order of the rule's

  // How many training samples the coordinator keeps for itself.
  std::size_t own_samples() const {
    return rule->compares_with_own ? static_cast<std::size_t>(numbers.at(0)) : 0;
  }
};

// Makes the elements of `out` of the same elements of all updates, one row each, in the order of their work items. Rows may
// be overwritten. Every value is finite, and there is at least one row.
using CombineUpdates = std::function<void(std::span<const std::span<float>> updates,
                                          std::span<const double> weights, std::span<float> out)>;

// For rules that need all updates at once: keeps them in the scene's store, and reads them back in blocks of elements. Memory
// is as many floats as updates times a block's elements.
std::unique_ptr<Aggregator> MakeStoredAggregator(const AggregationScene& scene, CombineUpdates combine);

// The committed updates of a round, for rules that depend on whole updates: on their norms or distances.
class RoundUpdates {
 public:
  virtual ~RoundUpdates() = default;

  virtual std::size_t size() const = 0;  // at least one
  // Visits the parameters in order, in blocks of at most 16,384 elements: one row per update, in the order of their work
  // items. Rows may be overwritten. Every call reads all updates from the store.
  virtual Status ForEachBlock(
      const std::function<void(std::span<const std::span<float>> updates)>& visit) const = 0;
};

// What a rule found out from whole updates: how it combines the elements of this round.
struct RoundCombination {
  CombineUpdates parameters;
  CombineUpdates statistics;
};

// Called once a round, before its first element is reported. Nothing is kept from round to round, so a run that is resumed
// gives the same bits. Unavailable if no update may be applied.
using InspectUpdates = std::function<StatusOr<RoundCombination>(const RoundUpdates&)>;

std::unique_ptr<Aggregator> MakeStoredAggregator(const AggregationScene& scene, InspectUpdates inspect);

}  // namespace tributary::inline policy
