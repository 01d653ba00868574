#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/store/run_record.h"
#include "tributary/telemetry/sink.h"

namespace tributary::inline store {

// What a run's folder says beside its events. Files in it may be missing or anything.
struct RunFolderMetadata {
  std::string name;                 // The folder's.
  std::string folder;               // Absolute.
  std::string experiment;           // The text of experiment.toml; empty where there is none.
  std::vector<std::string> groups;  // Of devices, by their numbers; empty if not known.
  bool simulated = true;
  WallTime started{0};
  WallTime last_written{0};
};

// Hands the events of the run in `folder` to `sink`. A last line that is cut off, as a killed process leaves it, does not
// count. NotFound, saying what is missing, where it is no run's folder.
StatusOr<RunFolderMetadata> ReadRunFolder(const std::filesystem::path& folder, EventSink& sink);

// The whole run in a folder.
StatusOr<RunHistory> HistoryOfFolder(const std::filesystem::path& folder);

}  // namespace tributary::inline store
