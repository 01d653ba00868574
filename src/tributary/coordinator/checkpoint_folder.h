#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/coordinator/checkpoint.h"

namespace tributary::inline coordinator {

// The checkpoints of a run: files `round-00000012.checkpoint` in a folder of their own, of which the newest few are
// kept. One process at a time (RunFolder sees to it).

// Writes one beside the others and forces it to disk; only then removes all but the newest `keep`, this one included.
// Makes the folder. On failure (a full disk, say) the older ones are all still there.
Status SaveCheckpoint(const std::filesystem::path& folder, const Checkpoint& checkpoint,
                      std::span<const SafetensorsSource> arrays, std::size_t keep);

struct NewestCheckpoint {
  std::optional<CheckpointFile> file;  // nothing where there are none
  std::vector<std::string> problems;   // what was wrong with newer ones, for a person
};

// The newest that can be read. One that cannot is reported, set aside as `….unreadable`, and the one before it is
// tried; if there are some and none can be read, that is a failure and all stay. Temporary files that a killed process
// left are removed.
StatusOr<NewestCheckpoint> LoadNewestCheckpoint(const std::filesystem::path& folder);

}  // namespace tributary::inline coordinator
