#include "tributary/store/run_files.h"

#include <algorithm>

#include "tributary/base/file.h"
#include "tributary/base/json_reader.h"

namespace tributary::inline store {
namespace {

constexpr Bytes kLargestText{100'000'000};

std::string TextOfFile(const std::filesystem::path& path) {
  const auto bytes = ReadFile(path, kLargestText);
  return bytes.ok() ? std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size())
                    : std::string();
}

WallTime WrittenAt(const std::filesystem::path& path) {
  std::error_code error;
  const auto time = std::filesystem::last_write_time(path, error);
  if (error) return WallTime(0);
  return std::chrono::duration_cast<WallTime>(std::chrono::file_clock::to_sys(time).time_since_epoch());
}

void ReadSummary(const std::string& text, RunFolderMetadata& metadata) {
  const auto summary = ParseJson(text, {.what = "a summary", .levels = 0});
  if (!summary.ok()) return;
  metadata.simulated = !summary->Has("seconds");
  const auto devices = summary->List("devices");
  if (!devices.ok()) return;
  for (std::size_t i = 0; i < std::min(devices->size(), RunFollower::kMostDevices); ++i) {
    const auto group = (*devices)[i].Text("group");
    metadata.groups.push_back(group.ok() ? *group : "");
  }
}

}  // namespace

StatusOr<RunFolderMetadata> ReadRunFolder(const std::filesystem::path& folder, EventSink& sink) {
  const std::filesystem::path log = folder / "events.jsonl";
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(log, error);
  if (error) return NotFound(folder.string() + " is not a run's folder: it has no events.jsonl");
  RunFolderMetadata metadata;
  const std::filesystem::path absolute =
      std::filesystem::weakly_canonical(std::filesystem::absolute(folder, error), error);
  metadata.folder = absolute.string();
  metadata.name = absolute.filename().string();
  metadata.experiment = TextOfFile(folder / "experiment.toml");
  ReadSummary(TextOfFile(folder / "summary.json"), metadata);
  metadata.last_written = WrittenAt(log);
  metadata.started = std::min(WrittenAt(folder / "experiment.toml"), metadata.last_written);
  if (metadata.started == WallTime(0)) metadata.started = metadata.last_written;
  TRIBUTARY_RETURN_IF_ERROR(ReplayEvents(log, WholeLines(log).value_or(size), sink));
  return metadata;
}

StatusOr<RunHistory> HistoryOfFolder(const std::filesystem::path& folder) {
  RunFollower follower;
  TRIBUTARY_ASSIGN_OR_RETURN(const RunFolderMetadata metadata, ReadRunFolder(folder, follower));
  if (!follower.started()) return Corrupt("the log of " + folder.string() + " contains no run");
  follower.set_groups(metadata.groups);
  RunHistory history;
  history.run = follower.run();
  history.run.name = metadata.name;
  history.run.folder = metadata.folder;
  history.run.simulated = metadata.simulated;
  history.run.started = metadata.started;
  if (history.run.state == RunState::kRunning) {
    history.run.state = RunState::kDied;
  } else {
    history.run.finished = metadata.last_written;
  }
  history.rounds = follower.changes().rounds;
  history.evaluations = follower.changes().evaluations;
  for (std::size_t i = 0; i < follower.device_count(); ++i) history.devices.push_back(follower.device(i));
  return history;
}

}  // namespace tributary::inline store
