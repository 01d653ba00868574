#include "tributary/experiment/reader.h"

#include "tributary/base/file.h"
#include "tributary/experiment/options.h"
#include "tributary/experiment/overrides.h"

namespace tributary::inline experiment {
namespace {

// Checked first: a file of another schema would be misunderstood.
Status CheckSchema(const Document& document) {
  const Value* schema = FindMember(std::get<Table>(document.root.content), kSchemaKey);
  const std::string prefix = Prefix(document.name, schema == nullptr ? document.root.place : schema->place);
  const std::string key(kSchemaKey), wanted = key + " = " + std::to_string(kSchema);
  if (schema == nullptr)
    return InvalidArgument(prefix + key + " is missing; an experiment begins with " + wanted);
  const auto* number = std::get_if<std::int64_t>(&schema->content);
  if (number != nullptr && *number == kSchema) return OkStatus();
  return InvalidArgument(prefix + key + " is " + Describe(*schema) + "; this version of tributary reads " +
                         wanted);
}

StatusOr<Experiment> Read(const Document& document, const OptionContext& context, Against& against) {
  Experiment experiment;
  OptionList keys = ExperimentKeys(experiment, against, context);
  TRIBUTARY_RETURN_IF_ERROR(keys.Read(document, document.root, ""));
  keys.Complete();
  TRIBUTARY_RETURN_IF_ERROR(keys.CheckAll());
  experiment.transfers.whole_push = NeedsWholePush(experiment.compression);
  experiment.data.split.devices = static_cast<int>(TotalDevices(experiment.fleet));
  experiment.data.split.seed = experiment.goal.seed;
  experiment.sampling.batch = experiment.train.batch;
  experiment.sampling.seed = experiment.goal.seed;
  // A few bytes of a file can expand to many: a list without units, a trace file.
  const Bytes spelled_out{static_cast<std::int64_t>(FormatExperiment(experiment).size())};
  if (spelled_out > kLargestDocument) {
    return ResourceExhausted(document.name + " has " + FormatBytes(spelled_out) +
                             " with everything spelled out; allowed: " + FormatBytes(kLargestDocument));
  }
  return experiment;
}

}  // namespace

StatusOr<ExperimentPair> ReadExperimentPairText(std::string_view text, const TextSource& source,
                                                std::span<const std::string> overrides,
                                                const Extensions& extensions) {
  TRIBUTARY_ASSIGN_OR_RETURN(Document document, ParseDocument(text, source.name));
  TRIBUTARY_RETURN_IF_ERROR(ApplyOverrides(document, overrides));
  TRIBUTARY_RETURN_IF_ERROR(CheckSchema(document));
  const OptionContext context{source.folder, extensions};
  Against against, same;
  ExperimentPair pair;
  TRIBUTARY_ASSIGN_OR_RETURN(pair.experiment, Read(document, context, against));
  if (against.name.empty()) return pair;
  const std::string where = source.name + ": [against]";
  Status changed = ApplyOverrides(document, against.settings, TakingOut::kLenient);
  if (!changed.ok()) return std::move(changed).WithContext(where);
  auto other = Read(document, context, same);
  if (!other.ok()) return Status(other.status()).WithContext(where);
  other->goal.name += "-" + against.name;
  if (!IsPlainName(other->goal.name)) {
    return InvalidArgument(where + ": the name would be \"" + other->goal.name +
                           "\"; allowed: " + std::string(kPlainName));
  }
  pair.against = std::move(*other);
  return pair;
}

std::string FormatExperiment(const Experiment& experiment) {
  Experiment copy = experiment;  // The keys need mutable fields.
  Against against;
  const Extensions none;
  const OptionContext context{std::nullopt, none};
  return ExperimentKeys(copy, against, context).Write("");
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
