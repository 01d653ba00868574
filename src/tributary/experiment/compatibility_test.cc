#include "tributary/experiment/compatibility.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <type_traits>

#include "tributary/experiment/vocabulary.h"

namespace tributary::inline experiment {
namespace {

// Whether some decision or method sets `key` to this word, or to something that has it as its kind.
bool IsChosen(const std::string& key, const std::string& word) {
  const auto chooses = [&](const std::string& setting) {
    return setting == key + "=" + word ||
           (setting.starts_with(key + "=") && setting.find("kind=\"" + word + "\"") != std::string::npos);
  };
  return std::ranges::any_of(
             Decisions(),
             [&](const Decision& decision) { return std::ranges::any_of(decision.settings, chooses); }) ||
         std::ranges::any_of(MethodChoices(), [&](const MethodChoice& method) {
           return std::ranges::any_of(method.settings, chooses);
         });
}

void ExpectChosen(const std::string& key, const std::string& word) {
  EXPECT_TRUE(IsChosen(key, word))
      << key << " = \"" << word
      << "\" is in no row of docs/compatibility.md; name it in compatibility/decisions.toml";
}

// Of the words that an experiment may have for `key`, all but the usual one, where that needs no row.
template <typename Enum>
using Usual = std::optional<std::type_identity_t<Enum>>;
template <typename Enum, std::size_t n>
void ExpectWords(const std::string& key, const std::array<Word<Enum>, n>& words, Usual<Enum> usual = {}) {
  for (const Word<Enum>& word : words) {
    if (word.meaning != usual) ExpectChosen(key, std::string(word.name));
  }
}
template <typename Enum, std::size_t n>
void ExpectNames(const std::string& key, const Enum (&all)[n], Usual<Enum> usual = {}) {
  for (const Enum one : all) {
    if (one != usual) ExpectChosen(key, std::string(NameOf(one)));
  }
}

TEST(Compatibility, HasARowOrColumnForEveryChoice) {
  const Experiment usual;
  ExpectWords("train.method", kMethods);
  ExpectWords("split.variant", kSplitVariants, usual.split.variant);
  ExpectNames("gossip.algorithm", kMixingRules, usual.gossip.mixing.rule);
  ExpectNames("gossip.topology", kTopologyKinds);
  ExpectWords("gossip.batches", kBatchSizes, usual.gossip.batches);
  ExpectWords("data.evaluate", kMeasuredOn, usual.data.evaluate);
  ExpectWords("train.server-optimiser", kServerOptimisers, usual.train.server_optimiser.kind);
  ExpectWords("disturbance", kDisturbances);
  ExpectWords("stream.buffer", kBufferPolicies, usual.stream.buffer);
  for (const DropoutMethod& rule : SubnetworkRules()) {
    if (rule != usual.dropout.method) ExpectChosen("dropout.method", rule->name);
  }
  ExpectNames("dropout.channels", kChannelChoices, usual.dropout.channels);
  ExpectWords("dropout.mean", kMeansOver, usual.dropout.mean);
  ExpectNames("dropout.cost", kFrontCosts, usual.dropout.cost);
  ExpectNames("transfers.strategy", kTransferStrategies, usual.transfers.strategy);
  for (const CompressionKind& codec : Codecs()) {
    if (codec != usual.compression.kind) ExpectChosen("compression.kind", codec->name);
  }
  ExpectNames("compression.scope", kSelectionScopes, usual.compression.scope);
  ExpectNames("stream.batch", kBatchRules, usual.stream.batch.rule);
  ExpectNames("stream.scaling", kRateScalings, usual.stream.scaling.rule);
  ExpectNames("sampling.method", kSamplingMethods);
  ExpectNames("sampling.draw", kSamplingDraws, usual.sampling.draw);
  ExpectNames("sampling.order", kStepOrders, usual.sampling.order);
  ExpectNames("split.activations", kSplitPrecisions, usual.split.activations);
  ExpectNames("split.gradients", kSplitPrecisions, usual.split.gradients);
  for (const auto& rule : AggregationRules()) {
    if (rule != usual.aggregation.rule) ExpectChosen("aggregation.rule", rule->name);
  }
  for (const std::string& kind : SplitKinds()) {
    if (kind != usual.data.split.kind) ExpectChosen("data.split", kind);
  }
}

TEST(Compatibility, SettingsOfAPairAreThoseOfItsParts) {
  const MethodChoice method{"m", {"train.method=federated", "train.local-steps=2"}};
  const Decision decision{"", "", {"a.b=1", "a.c=2"}, {"d=3"}, {"a.b=0"}};
  using Settings = std::vector<std::string>;
  EXPECT_EQ(decision.key(), "a.b");
  EXPECT_EQ(PairSettings(method, decision),
            (Settings{"train.method=federated", "train.local-steps=2", "d=3", "a.b=1", "a.c=2"}));
  EXPECT_EQ(SettingsWithout(method, decision),
            (Settings{"train.method=federated", "train.local-steps=2", "d=3", "a.b=0"}));
  const Decision epochs{"", "", {"train.local-epochs=1"}};
  EXPECT_EQ(PairSettings(method, epochs), (Settings{"train.method=federated", "train.local-epochs=1"}));
  EXPECT_EQ(SettingsWithout(method, epochs), method.settings);
}

TEST(Compatibility, RefusalsSayWhyAndNotWhere) {
  const auto words = [](std::vector<std::string> settings) { return ReadPair(settings).status().message(); };
  EXPECT_EQ(words({"train.method=sync-sgd", "train.prox=0.1"}),
            "train.prox is only valid with method = \"federated\"");
  // Where a setting is too long for a message, and where it is the file that is wrong.
  EXPECT_EQ(words({"train.method=sync-sgd",
                   "gossip.topology={kind=\"edges\", edges=[" + std::string(200, ' ') + "[0, 1]]}"}),
            "gossip.topology is only valid with train.method = \"gossip\"");
  EXPECT_EQ(words({}), "train.method is missing");
}

}  // namespace
}  // namespace tributary::inline experiment
