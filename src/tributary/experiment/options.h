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
OptionList GoalKeys(Goal& goal);
OptionList ModelKeys(ModelChoice& model, const OptionContext& context);
OptionList DataKeys(DataChoice& data, const OptionContext& context);
OptionList FleetKeys(Experiment& experiment, const OptionContext& context);
OptionList TrainKeys(Experiment& experiment);
OptionList TransferKeys(TransferOptions& transfers);
OptionList CompressionKeys(CompressionOptions& compression, const OptionContext& context);
OptionList StreamKeys(Experiment& experiment, const OptionContext& context);
OptionList InjectionKeys(Experiment& experiment);
OptionList SplitKeys(Experiment& experiment);
OptionList SamplingKeys(Experiment& experiment, const OptionContext& context);
OptionList DropoutKeys(Experiment& experiment, const OptionContext& context);
OptionList GossipKeys(Experiment& experiment, const OptionContext& context);
OptionList AggregationKeys(Experiment& experiment, const OptionContext& context);
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
