#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/file_lock.h"
#include "tributary/base/status.h"
#include "tributary/coordinator/checkpoint.h"
#include "tributary/coordinator/coordinator.h"
#include "tributary/experiment/experiment.h"
#include "tributary/model/weights_file.h"
#include "tributary/telemetry/run_metadata.h"
#include "tributary/telemetry/sink.h"

namespace tributary::inline coordinator {

// One CSV line per round: round, virtual or real seconds since the start, duration, outcomes, bytes down, up
// and of shared samples, buffered samples, overlap, training loss, accuracy and loss if evaluated.
class RoundsTable : public EventSink {
 public:
  RoundsTable();
  void Write(const Event& event) override;
  // All rounds so far, with the heading.
  std::string text() const;

 private:
  std::string lines_;
  std::string round_;      // the last round, until it is evaluated
  std::string evaluated_;  // accuracy and loss, if known
};

// Run metadata for viewers, without the devices. `held` is the network that devices hold.
RunMetadata MetadataOf(const Experiment& experiment, const Model& held, bool simulated);

// Of a coordinator's run: who joined, left, was refused or changed it (fleet/protocol/audit_log.h).
inline constexpr const char* kAuditLog = "audit.jsonl";

struct ResumedRun;

// The files of a run: experiment.toml (as run), facts.json, events.jsonl, with a Checkpointer checkpoints/,
// and at the end rounds.csv, weights.safetensors and summary.json. Locked during this object's lifetime: a
// second one for the same path is Unavailable. Folders have mode 0700 and files 0600.
class RunFolder {
 public:
  // The folder must be empty or not exist; its parents are created.
  static StatusOr<RunFolder> Create(const std::filesystem::path& path, const Experiment& experiment);

  // Refuses simulated runs, and finished ones without a checkpoint. Changes nothing.
  static Status CheckResumable(const std::filesystem::path& path);

  // Continues a run that was stopped or killed. The experiment must equal the folder's exactly. Events up to
  // the newest checkpoint are replayed to rounds() and `sinks`; later events are dropped, since their rounds
  // run again. Without a checkpoint the run starts over, and a log that is not empty is renamed to
  // events-N.jsonl. Refuses, without changing the log, what CheckResumable refuses, another experiment, and
  // unreadable logs or checkpoints.
  static StatusOr<ResumedRun> Resume(const std::filesystem::path& path, const Experiment& experiment,
                                     std::span<EventSink* const> sinks = {});

  // Removes the files that Create made, for a run that could not start.
  void Discard() &&;

  JsonLinesSink& events() { return *events_; }
  EventSink& rounds() { return rounds_; }

  // Writes facts.json.
  Status Describe(const RunMetadata& run_metadata) const;

  // The text of experiment.toml.
  const std::string& experiment() const { return experiment_; }
  std::filesystem::path checkpoints() const { return path_ / "checkpoints"; }
  // File for the newest revocation list that a coordinator of this run has accepted.
  std::filesystem::path newest_revocations() const;

  Status Finish(const Model& model, std::span<const float> parameters, std::span<const float> statistics,
                const Metadata& metadata, std::string_view summary);

 private:
  RunFolder(std::filesystem::path path, std::string experiment, FileLock lock)
      : path_(std::move(path)), experiment_(std::move(experiment)), lock_(std::move(lock)) {}

  std::filesystem::path path_;
  std::string experiment_;
  FileLock lock_;
  std::unique_ptr<JsonLinesSink> events_;
  RoundsTable rounds_;
};

struct ResumedRun {
  RunFolder folder;
  // The checkpoint to restore, and errors of newer ones. As large as its file: release it after restoring.
  NewestCheckpoint checkpoint;
};

struct CheckpointerOptions {
  // Minimum run time between checkpoints: shorter loses less work in a crash and writes more.
  Duration time = std::chrono::seconds(30);
  // If given, also after this number of rounds.
  std::optional<std::uint64_t> rounds;
  // Number of checkpoints that are kept; more than one guards against disk errors.
  std::size_t keep = 2;
};

// Decides when to write a checkpoint, and writes it: first the log, then the checkpoint that refers to it.
// The final state is always saved, also of an interrupted run. Pass Write to Coordinator::Run as its Keeper.
class Checkpointer {
 public:
  using Members = std::function<std::vector<FleetMember>()>;
  using Saved = std::function<void(std::span<const FleetMember>)>;

  // `folder` must outlive it. Calls `members` at each checkpoint, and `saved` with them once it is on disk. A
  // resumed run passes its checkpoint's progress as `from`.
  Checkpointer(RunFolder& folder, Members members, CheckpointerOptions options = {},
               const RunProgress& from = {}, Saved saved = {});

  Status Write(const CoordinatorState& state);

 private:
  bool IsDue(const CoordinatorState& state) const;

  RunFolder& folder_;
  const Members members_;
  const Saved on_saved_;
  const CheckpointerOptions options_;
  RunProgress saved_;
  std::uint64_t log_bytes_ = 0;  // after the last round; later events are not part of its checkpoint
};

}  // namespace tributary::inline coordinator
