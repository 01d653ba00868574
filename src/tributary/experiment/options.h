#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "tributary/experiment/experiment.h"
#include "tributary/experiment/extensions.h"
#include "tributary/experiment/option.h"

namespace tributary::inline experiment {

// [against]: settings of the variant to compare with (reader.h).
struct Against {
  std::string name;
  std::vector<std::string> settings;
};

struct OptionContext {
  std::optional<std::filesystem::path> folder;  // of its files; none if it may not name files
  const Extensions& extensions;
};

// All keys of an experiment file, in the order in which they are written.
OptionList ExperimentKeys(Experiment& experiment, Against& against, const OptionContext& context);

// The keys of its sections. They take the whole experiment, since validity depends on other sections.
using SectionKeys = OptionList(Experiment& experiment, const OptionContext& context);
SectionKeys GoalKeys, ModelKeys, DataKeys, FleetKeys, TrainKeys, TransferKeys, CompressionKeys, StreamKeys;
SectionKeys InjectionKeys, SplitKeys, SamplingKeys, DropoutKeys, GossipKeys, AggregationKeys, TrustKeys;
OptionList DisturbanceKeys(Disturbance& disturbance, const Experiment& experiment);
ValueForm AvailabilityForm(AvailabilityKind& availability, const OptionContext& context);

// Whether devices have samples that arrive over time.
bool Streams(const Experiment& experiment);

// Names of experiments and groups: letters, digits, '-' and '_'. They become parts of paths and dotted keys.
bool IsPlainName(std::string_view name);
inline constexpr std::string_view kPlainName = "letters, digits, '-' and '_', 64 at most, not digits alone";
ValueForm PlainName(std::string& field);

inline constexpr std::string_view kSchemaKey = "schema";
inline constexpr std::int64_t kSchema = 1;
// Key of a group's name, which can identify it in other keys (overrides.h).
inline constexpr std::string_view kNameKey = "name";

// Larger round numbers are refused.
inline constexpr std::int64_t kMostRounds = 1'000'000'000;

}  // namespace tributary::inline experiment
