#include "tributary/coordinator/run_folder.h"

#include <algorithm>
#include <array>

#include "tributary/base/file.h"
#include "tributary/experiment/format.h"
#include "tributary/telemetry/replay.h"

namespace tributary {
namespace {

constexpr const char* kExperiment = "experiment.toml";
constexpr const char* kFacts = "facts.json";
constexpr const char* kEvents = "events.jsonl";
constexpr const char* kRounds = "rounds.csv";
constexpr const char* kWeights = "weights.safetensors";
constexpr const char* kSummary = "summary.json";
constexpr const char* kLock = ".lock";
constexpr Bytes kLargestExperiment{100'000'000};

// Whether a run has left anything there. One that was killed before it had written its experiment has not.
bool IsUsed(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::exists(path, error) && !std::filesystem::is_directory(path, error)) return true;
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    const std::string name = entry.path().filename().string();
    if (name != kLock && TargetOfTemporary(name) != kExperiment) return true;
  }
  return false;
}

// What writes that were killed in the middle have left.
void RemoveLeftovers(const std::filesystem::path& path) {
  constexpr std::array<std::string_view, 5> kWritten = {kExperiment, kFacts, kRounds, kWeights, kSummary};
  std::vector<std::filesystem::path> leftovers;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    const std::string name = entry.path().filename().string();
    if (std::ranges::find(kWritten, TargetOfTemporary(name)) != kWritten.end())
      leftovers.push_back(entry.path());
  }
  for (const std::filesystem::path& leftover : leftovers) std::filesystem::remove(leftover, error);
}

StatusOr<FileLock> Lock(const std::filesystem::path& path) {
  auto lock = FileLock::Acquire(path / kLock);
  if (lock.ok() || lock.status().code() != StatusCode::kUnavailable) return lock;
  return Unavailable("the run folder " + path.string() +
                     " is in use: another coordinator is running it; stop that one, or name another folder");
}

// The first line in which two texts differ.
Status CheckSameExperiment(const std::string& where, std::string_view expected, std::string_view found) {
  const auto next = [](std::string_view& text) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    return std::string(line);
  };
  for (int line = 1; expected != found; ++line) {
    const std::string ours = next(expected);
    const std::string theirs = next(found);
    if (ours == theirs && !(expected.empty() && found.empty())) continue;
    return InvalidArgument(where + " is of another experiment: line " + std::to_string(line) + " is '" +
                           theirs + "', now it would be '" + ours +
                           "'; resume with the experiment it was started with");
  }
  return OkStatus();
}

Status CheckExperimentFile(const std::filesystem::path& path, const std::string& experiment) {
  auto bytes = ReadFile(path / kExperiment, kLargestExperiment);
  if (bytes.status().code() == StatusCode::kNotFound) {
    return NotFound("there is no run to resume in " + path.string() + ": it has no " + kExperiment);
  }
  if (!bytes.ok()) return std::move(bytes).status();
  return CheckSameExperiment("the run in " + path.string(), experiment,
                             {reinterpret_cast<const char*>(bytes->data()), bytes->size()});
}

}  // namespace

StatusOr<RunFolder> RunFolder::Create(const std::filesystem::path& path, const Experiment& experiment) {
  const Status used =
      InvalidArgument("the run folder " + path.string() + " exists already; name another with --out");
  if (IsUsed(path)) return used;
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return InvalidArgument("cannot make the run folder " + path.string() + ": " + error.message());
  TRIBUTARY_ASSIGN_OR_RETURN(FileLock lock, Lock(path));
  if (IsUsed(path)) return used;  // by somebody who was quicker, and is done
  RemoveLeftovers(path);
  RunFolder folder(path, FormatExperiment(experiment), std::move(lock));
  TRIBUTARY_RETURN_IF_ERROR(WriteFileAtomically(path / kExperiment, folder.experiment_));
  TRIBUTARY_ASSIGN_OR_RETURN(folder.events_, JsonLinesSink::Create(path / kEvents));
  return folder;
}

StatusOr<ResumedRun> RunFolder::Resume(const std::filesystem::path& path, const Experiment& experiment,
                                       std::span<EventSink* const> sinks) {
  const std::string text = FormatExperiment(experiment);
  TRIBUTARY_RETURN_IF_ERROR(CheckExperimentFile(path, text));
  TRIBUTARY_ASSIGN_OR_RETURN(FileLock lock, Lock(path));
  RemoveLeftovers(path);
  ResumedRun run{RunFolder(path, text, std::move(lock)), {}};
  TRIBUTARY_ASSIGN_OR_RETURN(run.checkpoint, LoadNewestCheckpoint(run.folder.checkpoints()));
  if (!run.checkpoint.file) {
    TRIBUTARY_ASSIGN_OR_RETURN(run.folder.events_, JsonLinesSink::Create(path / kEvents));
    return run;
  }
  const Checkpoint& checkpoint = run.checkpoint.file->checkpoint();
  TRIBUTARY_RETURN_IF_ERROR(CheckSameExperiment("the checkpoint in " + run.folder.checkpoints().string(),
                                                text, checkpoint.experiment));
  std::vector<EventSink*> all = {&run.folder.rounds_};
  all.insert(all.end(), sinks.begin(), sinks.end());
  TeeSink tee(all);
  TRIBUTARY_RETURN_IF_ERROR(ReplayEvents(path / kEvents, checkpoint.log_bytes, tee));
  TRIBUTARY_ASSIGN_OR_RETURN(run.folder.events_, JsonLinesSink::Append(path / kEvents, checkpoint.log_bytes));
  return run;
}

void RunFolder::Discard() && {
  std::error_code error;
  for (const char* const name : {kEvents, kFacts, kExperiment, kLock})
    std::filesystem::remove(path_ / name, error);
  std::filesystem::remove(path_, error);  // unless it holds anything else
}

Status RunFolder::Describe(const RunFacts& facts) const {
  return WriteFileAtomically(path_ / kFacts, FormatFacts(facts));
}

Status RunFolder::Finish(const Model& model, std::span<const float> parameters,
                         std::span<const float> statistics, const Metadata& metadata,
                         std::string_view summary) {
  TRIBUTARY_RETURN_IF_ERROR(events_->Close());
  TRIBUTARY_RETURN_IF_ERROR(WriteFileAtomically(path_ / kRounds, rounds_.text()));
  TRIBUTARY_RETURN_IF_ERROR(SaveWeights(path_ / kWeights, model, parameters, statistics, metadata));
  return WriteFileAtomically(path_ / kSummary, summary);
}

}  // namespace tributary
