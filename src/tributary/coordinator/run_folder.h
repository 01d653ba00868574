#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "tributary/base/file_lock.h"
#include "tributary/base/status.h"
#include "tributary/coordinator/checkpoint_folder.h"
#include "tributary/coordinator/rounds_table.h"
#include "tributary/experiment/experiment.h"
#include "tributary/model/weights_file.h"
#include "tributary/telemetry/sink.h"

namespace tributary {

struct ResumedRun;

// What a run leaves behind: experiment.toml (as run), facts.json, events.jsonl and, where there is a Checkpointer, checkpoints/ while
// it runs, and at its end rounds.csv, weights.safetensors and summary.json. Locked while this lives: Unavailable, in
// words, for a second one of the same path.
class RunFolder {
 public:
  // The folder must not exist or be empty; its parents are made.
  static StatusOr<RunFolder> Create(const std::filesystem::path& path, const Experiment& experiment);

  // Goes on with a run that was stopped or killed. The experiment must be the folder's, to the letter. The events up to
  // the newest checkpoint go to rounds() and to each of `sinks`, as if they happened again; what the log says after
  // them is dropped. Without a checkpoint the log is emptied, and the run starts over. Refused without changing the log:
  // another experiment, a log or checkpoints that cannot be read.
  static StatusOr<ResumedRun> Resume(const std::filesystem::path& path, const Experiment& experiment,
                                     std::span<EventSink* const> sinks = {});

  // Removes what Create has made: for a run that could not begin.
  void Discard() &&;

  // Where the run's events go.
  JsonLinesSink& events() { return *events_; }
  EventSink& rounds() { return rounds_; }

  // Keeps what people are told besides, as facts.json.
  Status Describe(const RunFacts& facts) const;

  // The text of experiment.toml.
  const std::string& experiment() const { return experiment_; }
  std::filesystem::path checkpoints() const { return path_ / "checkpoints"; }

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

}  // namespace tributary
