#include "tributary/coordinator/run_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "tributary/base/file.h"
#include "tributary/experiment/reader.h"

namespace tributary::inline coordinator {
namespace {

// The shortest text that parses back to the same number, in any locale.
std::string Number(double value) {
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  return std::string(text.data(), end);
}

constexpr const char* kExperiment = "experiment.toml";
constexpr const char* kRunMetadata = "facts.json";
constexpr const char* kEvents = "events.jsonl";
constexpr const char* kRounds = "rounds.csv";
constexpr const char* kWeights = "weights.safetensors";
constexpr const char* kSummary = "summary.json";
constexpr const char* kRevoked = "revoked.pem";
constexpr const char* kLock = ".lock";
constexpr Bytes kLargestExperiment{100'000'000};

// Whether the folder has files of a run, except of one that was killed before it wrote its experiment.
bool IsUsed(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::exists(path, error) && !std::filesystem::is_directory(path, error)) return true;
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    const std::string name = entry.path().filename().string();
    if (name != kLock && TargetOfTemporary(name) != kExperiment) return true;
  }
  return false;
}

// Removes temporary files of killed processes.
void RemoveLeftovers(const std::filesystem::path& path) {
  constexpr std::array<std::string_view, 6> kWritten = {kExperiment, kRunMetadata, kRounds,
                                                        kWeights,    kSummary,     kRevoked};
  std::vector<std::filesystem::path> leftovers;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    const std::string name = entry.path().filename().string();
    if (std::ranges::count(kWritten, TargetOfTemporary(name)) > 0) leftovers.push_back(entry.path());
  }
  for (const std::filesystem::path& leftover : leftovers) std::filesystem::remove(leftover, error);
}

StatusOr<FileLock> Lock(const std::filesystem::path& path) {
  auto lock = FileLock::Acquire(path / kLock);
  if (lock.ok() || lock.status().code() != StatusCode::kUnavailable) return lock;
  return Unavailable(fmt::format(
      "the run folder {} is in use by another coordinator; stop it, or name another folder", path.string()));
}

// Compares two texts; the error shows the first line that differs.
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
    return InvalidArgument(
        fmt::format("{} is of another experiment: line {} is '{}', now it would be '{}'; resume with the "
                    "experiment it was started with",
                    where, line, theirs, ours));
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

// Renames a log that is not empty.
Status KeepOldLog(const std::filesystem::path& path) {
  const std::filesystem::path log = path / kEvents;
  std::error_code error;
  if (const auto size = std::filesystem::file_size(log, error); error || size == 0) return OkStatus();
  for (int number = 1;; ++number) {
    const std::filesystem::path kept = path / fmt::format("events-{}.jsonl", number);
    if (std::filesystem::exists(kept)) continue;
    std::filesystem::rename(log, kept, error);
    if (error)
      return IoError("cannot rename " + log.string() + " to " + kept.string() + ": " + error.message());
    return OkStatus();
  }
}

std::vector<std::string> MechanismsOf(const Experiment& experiment) {
  std::vector<std::string> names;
  const auto streams = [](const Group& group) { return !(group.stream_rate == Distribution::Constant(0)); };
  if (experiment.stream.recorded_speed || std::ranges::any_of(experiment.fleet.groups, streams))
    names.push_back("streams");
  if (!experiment.dropout.method->TrainsWhole()) names.push_back("dropout");
  if (experiment.compression.kind != CodecNamed("dense")) names.push_back("compression");
  if (experiment.transfers.strategy != TransferStrategy::kSequential) names.push_back("transfers");
  if (experiment.data.split.kind != "iid") names.push_back("partition");
  if (experiment.train.method == Method::kSplit) names.push_back("split");
  if (experiment.train.method == Method::kGossip) names.push_back("gossip");
  return names;
}

}  // namespace

RoundsTable::RoundsTable()
    : lines_(
          "round,seconds,duration,applied,late,lost,refused,crashed,bytes_down,bytes_up,bytes_injected,"
          "buffered,overlap,train_loss,accuracy,loss\n") {}

void RoundsTable::Write(const Event& event) {
  if (const auto* round = std::get_if<RoundFinished>(&event.what)) {
    lines_ = text();
    evaluated_ = ",";
    const auto known = [](const std::optional<double>& value) { return value ? Number(*value) : ""; };
    round_ = fmt::format("{},{},{},{},{},{},{},{},{},{}", round->round.value, Number(ToSeconds(event.time)),
                         Number(ToSeconds(round->duration)), fmt::join(round->outcomes(), ","),
                         round->bytes_down.value, round->bytes_up.value, round->bytes_injected.value,
                         round->buffered, known(round->overlap), known(round->train_loss));
  } else if (const auto* evaluated = std::get_if<Evaluated>(&event.what)) {
    evaluated_ = Number(evaluated->accuracy) + "," + Number(evaluated->loss);
  }
}

std::string RoundsTable::text() const {
  return round_.empty() ? lines_ : lines_ + round_ + "," + evaluated_ + "\n";
}

RunMetadata MetadataOf(const Experiment& experiment, const Model& held, bool simulated) {
  RunMetadata metadata;
  metadata.simulated = simulated;
  metadata.target = experiment.goal.target_accuracy;
  metadata.deadline = experiment.fleet.deadline;
  metadata.dense_update = {static_cast<std::int64_t>(sizeof(float)) *
                           static_cast<std::int64_t>(held.parameters.size + held.statistics.size)};
  metadata.mechanisms = MechanismsOf(experiment);
  if (const auto& front = experiment.dropout.front; front != nullptr && !front->points.empty()) {
    const FrontCost by = front->cost;
    const double full = front->points.back().Cost(by);
    for (const FrontPoint& point : front->points) {
      metadata.front.push_back({std::clamp(point.Cost(by) / full, 0.0, 1.0), point.convergence});
    }
  }
  return metadata;
}

Status RunFolder::CheckResumable(const std::filesystem::path& path) {
  constexpr Bytes kLargestRunMetadata{100'000'000};
  if (const auto bytes = ReadFile(path / kRunMetadata, kLargestRunMetadata); bytes.ok()) {
    const auto run_metadata = ParseRunMetadata({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
    if (run_metadata.ok() && run_metadata->simulated) {
      return InvalidArgument(fmt::format(
          "the run in {} is simulated, and a coordinator cannot resume it; simulate it again with "
          "'tributary run {}'",
          path.string(), (path / kExperiment).string()));
    }
  }
  if (!std::filesystem::exists(path / kSummary)) return OkStatus();
  std::error_code error;
  if (!std::filesystem::is_empty(path / "checkpoints", error) && !error) return OkStatus();
  return InvalidArgument(fmt::format(
      "the run in {} is finished, and there is no checkpoint to resume it from; start a new run with "
      "'tributary coordinator {}'",
      path.string(), (path / kExperiment).string()));
}

StatusOr<RunFolder> RunFolder::Create(const std::filesystem::path& path, const Experiment& experiment) {
  const Status used =
      InvalidArgument("the run folder " + path.string() + " exists already; name another with --out");
  if (IsUsed(path)) return used;
  TRIBUTARY_RETURN_IF_ERROR(MakePrivateFolders(path));
  TRIBUTARY_ASSIGN_OR_RETURN(FileLock lock, Lock(path));
  if (IsUsed(path)) return used;  // by a faster process that has finished
  RemoveLeftovers(path);
  RunFolder folder(path, FormatExperiment(experiment), std::move(lock));
  TRIBUTARY_RETURN_IF_ERROR(WritePrivateFileAtomically(path / kExperiment, folder.experiment_));
  TRIBUTARY_ASSIGN_OR_RETURN(folder.events_, JsonLinesSink::Create(path / kEvents));
  return folder;
}

StatusOr<ResumedRun> RunFolder::Resume(const std::filesystem::path& path, const Experiment& experiment,
                                       std::span<EventSink* const> sinks) {
  const std::string text = FormatExperiment(experiment);
  TRIBUTARY_RETURN_IF_ERROR(CheckExperimentFile(path, text));
  TRIBUTARY_RETURN_IF_ERROR(CheckResumable(path));
  TRIBUTARY_ASSIGN_OR_RETURN(FileLock lock, Lock(path));
  RemoveLeftovers(path);
  ResumedRun run{RunFolder(path, text, std::move(lock)), {}};
  TRIBUTARY_ASSIGN_OR_RETURN(run.checkpoint, LoadNewestCheckpoint(run.folder.checkpoints()));
  if (!run.checkpoint.file) {
    TRIBUTARY_RETURN_IF_ERROR(KeepOldLog(path));
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
  for (const char* const name : {kEvents, kRunMetadata, kExperiment, kAuditLog, kRevoked, kLock})
    std::filesystem::remove(path_ / name, error);
  std::filesystem::remove(path_, error);  // fails if other files are left
}

std::filesystem::path RunFolder::newest_revocations() const { return path_ / kRevoked; }

Status RunFolder::Describe(const RunMetadata& run_metadata) const {
  return WritePrivateFileAtomically(path_ / kRunMetadata, FormatRunMetadata(run_metadata));
}

Status RunFolder::Finish(const Model& model, std::span<const float> parameters,
                         std::span<const float> statistics, const Metadata& metadata,
                         std::string_view summary) {
  TRIBUTARY_RETURN_IF_ERROR(events_->Close());
  TRIBUTARY_RETURN_IF_ERROR(WritePrivateFileAtomically(path_ / kRounds, rounds_.text()));
  TRIBUTARY_RETURN_IF_ERROR(SaveWeights(path_ / kWeights, model, parameters, statistics, metadata));
  return WritePrivateFileAtomically(path_ / kSummary, summary);
}

Checkpointer::Checkpointer(RunFolder& folder, Members members, CheckpointerOptions options,
                           const RunProgress& from, Saved saved)
    : folder_(folder),
      members_(std::move(members)),
      on_saved_(std::move(saved)),
      options_(options),
      saved_(from) {}

bool Checkpointer::IsDue(const CoordinatorState& state) const {
  // The state has not changed since.
  if (state.progress.round == saved_.round) return false;
  return state.ending || state.progress.elapsed - saved_.elapsed >= options_.time ||
         (options_.rounds && state.progress.round - saved_.round >= *options_.rounds);
}

Status Checkpointer::Write(const CoordinatorState& state) {
  // At the end, the log may already contain events of an abandoned round.
  if (!state.ending) log_bytes_ = folder_.events().bytes();
  if (!IsDue(state)) return OkStatus();
  TRIBUTARY_RETURN_IF_ERROR(folder_.events().Sync());
  const Checkpoint checkpoint{state.progress, folder_.experiment(), log_bytes_, members_()};
  TRIBUTARY_RETURN_IF_ERROR(SaveCheckpoint(folder_.checkpoints(), checkpoint, state.arrays, options_.keep));
  saved_ = state.progress;
  if (on_saved_) on_saved_(checkpoint.members);
  return OkStatus();
}

}  // namespace tributary::inline coordinator
