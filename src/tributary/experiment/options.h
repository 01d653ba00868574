#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "tributary/experiment/experiment.h"
#include "tributary/experiment/extensions.h"
#include "tributary/experiment/option.h"

namespace tributary::inline experiment {

// [against]: the same experiment with other settings, to compare with (reader.h).
struct Against {
  std::string name;
  std::vector<std::string> settings;
};

// What the values of an experiment may name.
struct OptionContext {
  std::optional<std::filesystem::path> folder;  // where its files lie, if it may name any
  const Extensions& extensions;
};

// Every key of an experiment file, in the order in which they are written.
OptionList ExperimentKeys(Experiment& experiment, Against& against, const OptionContext& context);

// Those of its sections. They refer to the experiment, since what is valid depends on other sections.
using SectionKeys = OptionList(Experiment& experiment, const OptionContext& context);
SectionKeys GoalKeys, ModelKeys, DataKeys, FleetKeys, TrainKeys, TransferKeys, CompressionKeys, StreamKeys;
SectionKeys InjectionKeys, SplitKeys, SamplingKeys, DropoutKeys, GossipKeys, AggregationKeys, TrustKeys;
OptionList DisturbanceKeys(Disturbance& disturbance, const FleetChoice& fleet);
ValueForm AvailabilityForm(AvailabilityKind& availability, const OptionContext& context);

// Whether devices have samples that arrive over time.
bool Streams(const Experiment& experiment);

// A name of an experiment or a group: letters, digits, '-' and '_'. Names become folders and parts of dotted keys.
bool IsPlainName(std::string_view name);
inline constexpr std::string_view kPlainName = "letters, digits, '-' and '_', 64 at most, not digits alone";
ValueForm PlainName(std::string& field);

inline constexpr std::string_view kSchemaKey = "schema";
inline constexpr std::int64_t kSchema = 1;
// Of a group: other keys call it by this (overrides.h).
inline constexpr std::string_view kNameKey = "name";

// No experiment lasts as many rounds.
inline constexpr std::int64_t kMostRounds = 1'000'000'000;

}  // namespace tributary::inline experiment
