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

// A run's rounds as comma-separated values for spreadsheets and plotting scripts, one line per round: round, virtual or
// real seconds since the start, duration, who was applied and who not, training loss, accuracy and loss where it was
// evaluated, bytes down and up, and of those samples that devices share.
class RoundsTable : public EventSink {
 public:
  RoundsTable();
  void Write(const Event& event) override;
  // All rounds so far, heading included.
  std::string text() const;

 private:
  std::string lines_;
  std::string round_;      // of the round that finished last, up to its evaluation
  std::string evaluated_;  // accuracy and loss, where known
};

// What people who watch a run are told besides its events, but for who its devices are. `held` is the network that devices
// hold.
RunMetadata MetadataOf(const Experiment& experiment, const Model& held, bool simulated);

struct ResumedRun;

// What a run leaves behind: experiment.toml (as run), facts.json, events.jsonl and, where there is a Checkpointer, checkpoints/ while
// it runs, and at its end rounds.csv, weights.safetensors and summary.json. Locked while this lives: Unavailable, in
// words, for a second one of the same path. Only its owner can read it: folders have mode 0700 and files 0600.
class RunFolder {
 public:
  // The folder must not exist or be empty; its parents are made.
  static StatusOr<RunFolder> Create(const std::filesystem::path& path, const Experiment& experiment);

  // Refuses, in words, a folder whose run cannot be resumed: a simulated run, or a finished run without a checkpoint.
  // Changes nothing.
  static Status CheckResumable(const std::filesystem::path& path);

  // Goes on with a run that was stopped or killed. The experiment must be the folder's, to the letter. The events up to
  // the newest checkpoint go to rounds() and to each of `sinks`, as if they happened again; what the log says after
  // them is dropped, since those rounds are run again. Without a checkpoint the run starts over, and a log that is not
  // empty is kept as events-N.jsonl. Refused without changing the log: what CheckResumable refuses, another experiment,
  // a log or checkpoints that cannot be read.
  static StatusOr<ResumedRun> Resume(const std::filesystem::path& path, const Experiment& experiment,
                                     std::span<EventSink* const> sinks = {});

  // Removes what Create has made: for a run that could not begin.
  void Discard() &&;

  // Where the run's events go.
  JsonLinesSink& events() { return *events_; }
  EventSink& rounds() { return rounds_; }

  // Keeps what people are told besides, as facts.json.
  Status Describe(const RunMetadata& run_metadata) const;

  // The text of experiment.toml.
  const std::string& experiment() const { return experiment_; }
  std::filesystem::path checkpoints() const { return path_ / "checkpoints"; }
  // The newest revocation list that a coordinator of this run has accepted.
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
  // What to go on from (Coordinator::Restore), and what was wrong with newer ones. As large as its file: let go of it
  // once it is restored.
  NewestCheckpoint checkpoint;
};

struct CheckpointerOptions {
  // After a round, a checkpoint is written when so much of the run's time has passed since the last: less loses less
  // work in a crash and writes more.
  Duration time = std::chrono::seconds(30);
  // Where given, also after so many rounds, however short they were.
  std::optional<std::uint64_t> rounds;
  // So many are kept. One would do if disks never failed.
  std::size_t keep = 2;
};

// Decides when a run is worth saving, and saves it into its folder: the log first, then the checkpoint that counts it.
// The last state of a run is always saved, also when it was interrupted. Give Write to Coordinator::Run as its Keeper.
class Checkpointer {
 public:
  using Members = std::function<std::vector<FleetMember>()>;
  using Saved = std::function<void(std::span<const FleetMember>)>;

  // `folder` must outlive it. `members` is asked at each checkpoint, and `saved` told of them when it is on disk. A
  // resumed run starts `from` where its checkpoint was.
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
  std::uint64_t log_bytes_ = 0;  // after the last round: what is said after it is not part of its checkpoint
};

}  // namespace tributary::inline coordinator
