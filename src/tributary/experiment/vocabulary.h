#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "tributary/experiment/experiment.h"
#include "tributary/experiment/quantity.h"

namespace tributary::inline experiment {

// Names and bounds that the reader and the writer of experiment files share.

template <typename Enum>
struct Word {
  std::string_view name;
  Enum meaning;
};

inline constexpr std::array<Word<Method>, 4> kMethods = {{{"sync-sgd", Method::kSyncSgd},
                                                          {"federated", Method::kFederated},
                                                          {"split", Method::kSplit},
                                                          {"gossip", Method::kGossip}}};
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
inline constexpr std::array<Word<DisturbanceKind>, 6> kDisturbances = {
    {{"vanish", DisturbanceKind::kVanish},
     {"crash-in-upload", DisturbanceKind::kCrashInUpload},
     {"lose", DisturbanceKind::kLose},
     {"corrupt", DisturbanceKind::kCorrupt},
     {"slow", DisturbanceKind::kSlow},
     {"attack", DisturbanceKind::kAttack}}};
inline constexpr std::array<Word<AttackKind>, 6> kAttacks = {{{"sign-flip", AttackKind::kSignFlip},
                                                              {"scale", AttackKind::kScale},
                                                              {"noise", AttackKind::kNoise},
                                                              {"label-shift", AttackKind::kLabelShift},
                                                              {"alie", AttackKind::kAlie},
                                                              {"ipm", AttackKind::kIpm}}};
inline constexpr std::array<Word<BufferPolicy>, 2> kBufferPolicies = {
    {{"persist", BufferPolicy::kPersist}, {"truncate", BufferPolicy::kTruncate}}};
inline constexpr ChannelChoice kChannelChoices[] = {ChannelChoice::kRandom, ChannelChoice::kFirst};
inline constexpr std::array<Word<MeanOver>, 2> kMeansOver = {
    {{"all", MeanOver::kAll}, {"trained", MeanOver::kTrained}}};
inline constexpr FrontCost kFrontCosts[] = {FrontCost::kMacs, FrontCost::kTime};
inline constexpr std::array<Word<ScalingChoice>, 3> kScalings = {
    {{"auto", ScalingChoice::kAuto}, {"none", ScalingChoice::kNone}, {"inverse", ScalingChoice::kInverse}}};
inline constexpr std::array<Word<Trace::After>, 2> kAfters = {
    {{"hold", Trace::After::kHold}, {"repeat", Trace::After::kRepeat}}};

template <typename Enum, std::size_t n>
std::string_view NameOf(const std::array<Word<Enum>, n>& words, Enum meaning) {
  const auto found = std::ranges::find(words, meaning, &Word<Enum>::meaning);
  return found == words.end() ? "" : found->name;
}

// Numbers of a group that may be distributions.
struct GroupField {
  std::string_view key;
  Unit unit;
  Range allowed;
  bool required;
  Distribution Group::*member;
  std::string_view doc;
};

inline constexpr Range kRates{.low = 0, .high = 1e18, .above_low = true};
inline constexpr Range kSizes{.low = 1, .high = 1e18};
inline constexpr Range kTimes{.low = 0, .high = kLongestSeconds};
inline constexpr std::array<GroupField, 7> kGroupFields = {
    {{"compute", Unit::kMacsPerSecond, kRates, true, &Group::compute,
      "Compute rate, in multiply-accumulates per second."},
     {"memory", Unit::kBytes, kSizes, false, &Group::memory,
      "Memory; a device that cannot hold the training is refused."},
     {"uplink", Unit::kBitsPerSecond, kRates, true, &Group::uplink, "Rate to the coordinator."},
     {"downlink", Unit::kBitsPerSecond, kRates, false, &Group::downlink, "Rate from the coordinator."},
     {"round-trip", Unit::kSeconds, kTimes, false, &Group::round_trip, "Round-trip time."},
     {"setup", Unit::kSeconds, kTimes, false, &Group::setup, "Set-up time of every message."},
     {"stream-rate",
      Unit::kSamplesPerSecond,
      {.low = 0, .high = 1e12},
      false,
      &Group::stream_rate,
      "Rate at which samples arrive; 0: all are there from the start."}}};

}  // namespace tributary::inline experiment
