#include "tributary/experiment/reader.h"

#include <algorithm>

#include "tributary/base/file.h"
#include "tributary/experiment/format.h"
#include "tributary/experiment/overrides.h"
#include "tributary/experiment/sections.h"

namespace tributary::inline experiment {
namespace {

constexpr std::int64_t kSchema = 1;
constexpr std::size_t kMostDisturbances = 1000;

// Before anything else: a file of another schema would only be misunderstood.
Status CheckSchema(const Document& document) {
  const Value* schema = FindMember(std::get<Table>(document.root.content), "schema");
  const std::string prefix = Prefix(document.name, schema == nullptr ? document.root.place : schema->place);
  if (schema == nullptr)
    return InvalidArgument(prefix + "schema is missing; an experiment begins with schema = 1");
  const auto* number = std::get_if<std::int64_t>(&schema->content);
  if (number != nullptr && *number == kSchema) return OkStatus();
  return InvalidArgument(prefix + "schema is " + Describe(*schema) +
                         "; this version of tributary reads schema = 1");
}

Status ReadDisturbances(Section& root, Experiment& experiment) {
  const List& list = root.TakeTables("disturbance");
  if (list.size() > kMostDisturbances) {
    root.Fail("disturbance", " is a list of " + std::to_string(list.size()) + "; allowed: at most " +
                                 std::to_string(kMostDisturbances));
    return OkStatus();
  }
  for (const Value& item : list) {
    const std::string path = "disturbance." + std::to_string(experiment.disturbances.size());
    TRIBUTARY_RETURN_IF_ERROR(ReadDisturbance(Section(root.document(), item, path), experiment.fleet,
                                              experiment.disturbances.emplace_back()));
  }
  return OkStatus();
}

StatusOr<Experiment> Read(const Document& document, const std::optional<std::filesystem::path>& folder,
                          const Extensions& extensions) {
  Section root(document, document.root, "");
  root.Take("schema");
  Experiment experiment;
  // A section that is missing reads as an empty one at the top of the file, and says which keys it needs.
  const Value nothing{Table{}, document.root.place};
  const auto inner = [&](std::string_view name) {
    const Value* value = root.Take(name);
    return Section(document, value == nullptr ? nothing : *value, std::string(name));
  };
  std::vector<Section> sections;
  for (const auto name : {"experiment", "model", "data", "fleet", "train", "transfers", "compression",
                          "stream", "injection", "split", "sampling", "dropout", "gossip", "aggregation"}) {
    sections.push_back(inner(name));
  }
  root.TakeTables("disturbance");
  TRIBUTARY_RETURN_IF_ERROR(
      root.Finish());  // A section of an unknown name explains those that seem to be missing.

  TRIBUTARY_RETURN_IF_ERROR(ReadGoal(sections[0], experiment.goal));
  TRIBUTARY_RETURN_IF_ERROR(ReadModel(sections[1], folder, experiment.model));
  TRIBUTARY_RETURN_IF_ERROR(ReadData(sections[2], experiment.data));
  TRIBUTARY_RETURN_IF_ERROR(ReadFleet(sections[3], {experiment.goal, folder}, experiment.fleet));
  TRIBUTARY_RETURN_IF_ERROR(
      ReadTraining(sections[4], experiment.goal, experiment.data, VariantOf(sections[9]), experiment.train));
  TRIBUTARY_RETURN_IF_ERROR(ReadTransfers(sections[5], experiment.transfers));
  TRIBUTARY_RETURN_IF_ERROR(ReadCompression(sections[6], extensions, experiment.compression));
  TRIBUTARY_RETURN_IF_ERROR(ReadStream(sections[7], experiment, extensions, experiment.stream));
  TRIBUTARY_RETURN_IF_ERROR(ReadInjection(sections[8], experiment, experiment.injection));
  TRIBUTARY_RETURN_IF_ERROR(ReadSplit(sections[9], experiment, experiment.split));
  TRIBUTARY_RETURN_IF_ERROR(
      ReadSampling(sections[10], experiment.train, experiment.split, extensions, experiment.sampling));
  TRIBUTARY_RETURN_IF_ERROR(ReadDropout(sections[11], experiment, folder, experiment.dropout));
  TRIBUTARY_RETURN_IF_ERROR(ReadGossip(sections[12], experiment, folder, experiment.gossip));
  TRIBUTARY_RETURN_IF_ERROR(ReadAggregation(sections[13], experiment, extensions, experiment.aggregation));
  experiment.transfers.whole_push = NeedsWholePush(experiment.compression);
  TRIBUTARY_RETURN_IF_ERROR(ReadDisturbances(root, experiment));
  TRIBUTARY_RETURN_IF_ERROR(root.Finish());
  experiment.data.split.devices = static_cast<int>(TotalDevices(experiment.fleet));
  experiment.data.split.seed = experiment.goal.seed;
  experiment.sampling.batch = experiment.train.batch;
  experiment.sampling.seed = experiment.goal.seed;
  // A few bytes of a file can stand for many: a list without units, a trace in a file of its own.
  const Bytes spelled_out{static_cast<std::int64_t>(FormatExperiment(experiment).size())};
  if (spelled_out > kLargestDocument) {
    return ResourceExhausted(document.name + " has " + FormatBytes(spelled_out) +
                             " with everything spelled out; allowed: " + FormatBytes(kLargestDocument));
  }
  return experiment;
}

struct Against {
  std::string name;
  std::vector<std::string> settings;
};

Status ReadAgainst(Section section, Against& against) {
  constexpr std::size_t kMostSettings = 100;
  section.Require("name");
  section.Read("name", against.name);
  section.Require("set", "; it says what is different");
  section.Read("set", against.settings, "settings, like [\"compression=\", \"train.batch=64\"]",
               kMostSettings);
  if (!against.name.empty() && !IsPlainName(against.name)) {
    section.Fail("name", " is \"" + against.name + "\"; allowed: " + std::string(kPlainName));
  }
  return section.Finish();
}

// The section [against], which is then no longer part of the document.
StatusOr<std::optional<Against>> TakeAgainst(Document& document) {
  Table& root = std::get<Table>(document.root.content);
  const auto member =
      std::find_if(root.begin(), root.end(), [](const KeyValue& one) { return one.key == "against"; });
  if (member == root.end()) return std::optional<Against>();
  std::optional<Against> against(std::in_place);
  TRIBUTARY_RETURN_IF_ERROR(ReadAgainst(Section(document, member->value, "against"), *against));
  root.erase(member);
  return against;
}

}  // namespace

StatusOr<ExperimentPair> ReadExperimentPairText(std::string_view text, const TextSource& source,
                                                std::span<const std::string> overrides,
                                                const Extensions& extensions) {
  TRIBUTARY_ASSIGN_OR_RETURN(Document document, ParseDocument(text, source.name));
  TRIBUTARY_RETURN_IF_ERROR(ApplyOverrides(document, overrides));
  TRIBUTARY_RETURN_IF_ERROR(CheckSchema(document));
  TRIBUTARY_ASSIGN_OR_RETURN(const std::optional<Against> against, TakeAgainst(document));
  ExperimentPair pair;
  TRIBUTARY_ASSIGN_OR_RETURN(pair.experiment, Read(document, source.folder, extensions));
  if (!against) return pair;
  const std::string context = source.name + ": [against]";
  Status changed = ApplyOverrides(document, against->settings, TakingOut::kLenient);
  if (!changed.ok()) return std::move(changed).WithContext(context);
  auto other = Read(document, source.folder, extensions);
  if (!other.ok()) return Status(other.status()).WithContext(context);
  other->goal.name += "-" + against->name;
  if (!IsPlainName(other->goal.name)) {
    return InvalidArgument(context + ": the other's name would be \"" + other->goal.name +
                           "\"; allowed: " + std::string(kPlainName));
  }
  pair.against = std::move(*other);
  return pair;
}

StatusOr<ExperimentPair> ReadExperimentPair(const std::filesystem::path& path,
                                            std::span<const std::string> overrides,
                                            const Extensions& extensions) {
  TRIBUTARY_ASSIGN_OR_RETURN(const auto bytes, ReadFile(path, kLargestDocument));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return ReadExperimentPairText(text, {path.string(), path.parent_path()}, overrides, extensions);
}

StatusOr<Experiment> ReadExperimentText(std::string_view text, const TextSource& source,
                                        std::span<const std::string> overrides,
                                        const Extensions& extensions) {
  TRIBUTARY_ASSIGN_OR_RETURN(ExperimentPair pair,
                             ReadExperimentPairText(text, source, overrides, extensions));
  return std::move(pair.experiment);
}

StatusOr<Experiment> ReadExperiment(const std::filesystem::path& path, std::span<const std::string> overrides,
                                    const Extensions& extensions) {
  TRIBUTARY_ASSIGN_OR_RETURN(ExperimentPair pair, ReadExperimentPair(path, overrides, extensions));
  return std::move(pair.experiment);
}

}  // namespace tributary::inline experiment
