#pragma once

#include <filesystem>
#include <optional>

#include "tributary/base/status.h"
#include "tributary/experiment/experiment.h"
#include "tributary/experiment/extensions.h"
#include "tributary/experiment/section.h"

namespace tributary::inline experiment {

// The readers of an experiment's sections, in read_*.cc; reader.cc calls them in this order. Each fills its
// struct, which holds the defaults, and checks its values against each other and against the sections before it.

Status ReadGoal(Section section, Goal& goal);
// `folder` is where the files that an experiment names lie, if it may name any.
Status ReadModel(Section section, const std::optional<std::filesystem::path>& folder, ModelChoice& model);
Status ReadData(Section section, DataChoice& data);

struct FleetContext {
  const Goal& goal;
  const std::optional<std::filesystem::path>& folder;
};
Status ReadFleet(Section section, const FleetContext& context, FleetChoice& fleet);
Status ReadGroup(Section section, const FleetContext& context, Group& group);
void ReadAvailability(Section& section, std::string_view key, const FleetContext& context,
                      AvailabilityKind& out);

// What `section`, [split], says of itself to those that are read before it. An unknown word is taken for one that
// averages: ReadSplit will say what is wrong with it.
SplitVariant VariantOf(Section section);
Status ReadTraining(Section section, const Goal& goal, const DataChoice& data, SplitVariant variant,
                    Training& train);
Status ReadTransfers(Section section, TransferOptions& transfers);
Status ReadCompression(Section section, const Extensions& extensions, CompressionOptions& compression);
// `rest` has been read up to here: what a stream's options fall back on.
Status ReadStream(Section section, const Experiment& rest, const Extensions& extensions,
                  StreamChoice& stream);
Status ReadInjection(Section section, const Experiment& rest, InjectionOptions& injection);
// `rest` has been read up to here.
Status ReadSplit(Section section, const Experiment& rest, SplitChoice& split);
Status ReadSampling(Section section, const Training& train, const SplitChoice& split,
                    const Extensions& extensions, SamplingOptions& sampling);
// `folder` is where the file that it may name lies. `rest` has been read up to here.
Status ReadDropout(Section section, const Experiment& rest,
                   const std::optional<std::filesystem::path>& folder, DropoutOptions& dropout);
// `folder` is where the file that it may name lies. `rest` has been read up to here.
Status ReadGossip(Section section, const Experiment& rest, const std::optional<std::filesystem::path>& folder,
                  GossipChoice& gossip);
// `rest` has been read up to here.
Status ReadAggregation(Section section, const Experiment& rest, const Extensions& extensions,
                       AggregationOptions& aggregation);
Status ReadDisturbance(Section section, const FleetChoice& fleet, Disturbance& disturbance);

// Whether a text can name an experiment or a group: letters, digits, '-' and '_'. Names become folders and parts of
// dotted keys.
bool IsPlainName(std::string_view name);
inline constexpr std::string_view kPlainName = "letters, digits, '-' and '_', 64 at most, not digits alone";

// No experiment lasts as many rounds.
inline constexpr std::int64_t kMostRounds = 1'000'000'000;

}  // namespace tributary::inline experiment
