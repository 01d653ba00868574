#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/store/run_record.h"
#include "tributary/telemetry/sink.h"

namespace tributary::inline store {

// The metadata in a run's folder. Its files may be missing or contain anything.
struct RunFolderMetadata {
  std::string name;                 // of the folder
  std::string folder;               // absolute path
  std::string experiment;           // text of experiment.toml; empty if missing
  std::vector<std::string> groups;  // per device; empty if unknown
  bool simulated = true;
  WallTime started{0};
  WallTime last_written{0};
};

// Sends the events of the run in `folder` to `sink`. An incomplete last line, left by a killed process, is
// ignored. NotFound, naming what is missing, if it is not a run's folder.
StatusOr<RunFolderMetadata> ReadRunFolder(const std::filesystem::path& folder, EventSink& sink);

// The whole run in a folder.
StatusOr<RunHistory> HistoryOfFolder(const std::filesystem::path& folder);

}  // namespace tributary::inline store
