#include "tributary/coordinator/run_folder.h"

#include "tributary/base/file.h"
#include "tributary/experiment/format.h"

namespace tributary {

StatusOr<RunFolder> RunFolder::Create(const std::filesystem::path& path, const Experiment& experiment) {
  std::error_code error;
  if (std::filesystem::exists(path, error) && !std::filesystem::is_empty(path, error)) {
    return InvalidArgument("the run folder " + path.string() + " exists already; name another with --out");
  }
  std::filesystem::create_directories(path, error);
  if (error) return InvalidArgument("cannot make the run folder " + path.string() + ": " + error.message());
  RunFolder folder;
  folder.path_ = path;
  TRIBUTARY_RETURN_IF_ERROR(WriteFileAtomically(path / "experiment.toml", FormatExperiment(experiment)));
  TRIBUTARY_ASSIGN_OR_RETURN(folder.events_, JsonLinesSink::Create(path / "events.jsonl"));
  return folder;
}

Status RunFolder::Finish(const Model& model, std::span<const float> parameters, std::span<const float> statistics,
                         const Metadata& metadata, std::string_view summary) {
  TRIBUTARY_RETURN_IF_ERROR(events_->Close());
  TRIBUTARY_RETURN_IF_ERROR(WriteFileAtomically(path_ / "rounds.csv", rounds_.text()));
  TRIBUTARY_RETURN_IF_ERROR(SaveWeights(path_ / "weights.safetensors", model, parameters, statistics, metadata));
  return WriteFileAtomically(path_ / "summary.json", summary);
}

}  // namespace tributary
