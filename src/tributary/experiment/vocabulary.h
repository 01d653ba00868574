#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/experiment/experiment.h"
#include "tributary/experiment/quantity.h"

namespace tributary::inline experiment {

// The words and bounds of an experiment file that its reader and its writer share.

template <typename Enum>
struct Word {
  std::string_view name;
  Enum meaning;
};

// The words of an enum whose values have names already, by NameOf.
template <typename Enum, std::size_t n>
constexpr std::array<Word<Enum>, n> WordsOf(const Enum (&values)[n]) {
  std::array<Word<Enum>, n> words{};
  for (std::size_t i = 0; i < n; ++i) words[i] = {NameOf(values[i]), values[i]};
  return words;
}

inline constexpr std::array<Word<Method>, 4> kMethods = {{{"sync-sgd", Method::kSyncSgd},
                                                          {"federated", Method::kFederated},
                                                          {"split", Method::kSplit},
                                                          {"gossip", Method::kGossip}}};
inline constexpr auto kMixingWords = WordsOf(kMixingRules);
inline constexpr auto kTopologyWords = WordsOf(kTopologyKinds);
inline constexpr std::array<Word<BatchSizes>, 2> kBatchSizes = {
    {{"equal", BatchSizes::kEqual}, {"speed", BatchSizes::kSpeed}}};
inline constexpr std::array<Word<bool>, 2> kShardSizes = {{{"speed", true}, {"equal", false}}};
inline constexpr std::array<Word<ImageColour>, 3> kImageColours = {
    {{"auto", ImageColour::kAuto}, {"grey", ImageColour::kGrey}, {"colour", ImageColour::kColour}}};
inline constexpr std::array<Word<MeasuredOn>, 2> kMeasuredOn = {
    {{"test", MeasuredOn::kTest}, {"train", MeasuredOn::kTrain}}};
inline constexpr std::array<Word<SplitVariant>, 3> kSplitVariants = {
    {{"parallel", SplitVariant::kParallel},
     {"splitfed-v1", SplitVariant::kSplitFed1},
     {"splitfed-v2", SplitVariant::kSplitFed2}}};
inline constexpr std::array<Word<Stem>, 3> kStems = {
    {{"auto", Stem::kAuto}, {"cifar", Stem::kCifar}, {"imagenet", Stem::kImageNet}}};
inline constexpr std::array<Word<ServerOptimiserKind>, 4> kServerOptimisers = {
    {{"none", ServerOptimiserKind::kNone},
     {"momentum", ServerOptimiserKind::kMomentum},
     {"adam", ServerOptimiserKind::kAdam},
     {"yogi", ServerOptimiserKind::kYogi}}};
inline constexpr std::array<Word<DisturbanceKind>, 5> kDisturbances = {
    {{"vanish", DisturbanceKind::kVanish},
     {"crash-in-upload", DisturbanceKind::kCrashInUpload},
     {"lose", DisturbanceKind::kLose},
     {"corrupt", DisturbanceKind::kCorrupt},
     {"slow", DisturbanceKind::kSlow}}};
inline constexpr std::array<Word<BufferPolicy>, 2> kBufferPolicies = {
    {{"persist", BufferPolicy::kPersist}, {"truncate", BufferPolicy::kTruncate}}};
inline constexpr std::array<Word<DropoutMethod>, 7> kDropoutMethods = {
    {{"full", DropoutMethod::kFull},
     {"small", DropoutMethod::kSmall},
     {"uniform", DropoutMethod::kUniform},
     {"heterofl", DropoutMethod::kHeteroFl},
     {"fjord", DropoutMethod::kFjord},
     {"fedrolex", DropoutMethod::kFedRolex},
     {"pareto", DropoutMethod::kPareto}}};
inline constexpr auto kChannelChoices = WordsOf({ChannelChoice::kRandom, ChannelChoice::kFirst});
inline constexpr std::array<Word<MeanOver>, 2> kMeansOver = {
    {{"all", MeanOver::kAll}, {"trained", MeanOver::kTrained}}};
inline constexpr auto kFrontCosts = WordsOf({FrontCost::kMacs, FrontCost::kTime});
inline constexpr std::array<Word<ScalingChoice>, 3> kScalings = {
    {{"auto", ScalingChoice::kAuto}, {"none", ScalingChoice::kNone}, {"inverse", ScalingChoice::kInverse}}};
inline constexpr std::array<Word<Trace::After>, 2> kAfters = {
    {{"hold", Trace::After::kHold}, {"repeat", Trace::After::kRepeat}}};

// Whether plans of transfers change with what has been seen of layers and links.
inline bool FollowsMeasurements(TransferStrategy strategy) {
  return strategy == TransferStrategy::kIBatch || strategy == TransferStrategy::kOptimal;
}

template <typename Enum, std::size_t n>
std::string_view NameOf(const std::array<Word<Enum>, n>& words, Enum meaning) {
  for (const Word<Enum>& word : words) {
    if (word.meaning == meaning) return word.name;
  }
  return "";
}

// The numbers of a group that may be distributions.
struct GroupField {
  std::string_view key;
  Unit unit;
  Range allowed;
  bool required;
  Distribution Group::*member;
};

inline constexpr Range kRates{.low = 0, .high = 1e18, .above_low = true};
inline constexpr Range kSizes{.low = 1, .high = 1e18};
inline constexpr Range kTimes{.low = 0, .high = kLongestSeconds};
inline constexpr std::array<GroupField, 7> kGroupFields = {
    {{"compute", Unit::kMacsPerSecond, kRates, true, &Group::compute},
     {"memory", Unit::kBytes, kSizes, false, &Group::memory},
     {"uplink", Unit::kBitsPerSecond, kRates, true, &Group::uplink},
     {"downlink", Unit::kBitsPerSecond, kRates, false, &Group::downlink},
     {"round-trip", Unit::kSeconds, kTimes, false, &Group::round_trip},
     {"setup", Unit::kSeconds, kTimes, false, &Group::setup},
     {"stream-rate", Unit::kSamplesPerSecond, {.low = 0, .high = 1e12}, false, &Group::stream_rate}}};

}  // namespace tributary::inline experiment
