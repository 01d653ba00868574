#pragma once

#include <filesystem>
#include <vector>

#include "tributary/explore/state.h"
#include "tributary/explore/subnetwork_training.h"

namespace tributary::inline explore {

// The state of an exploration and its snapshots in one safetensors file with a checksum.

// Replaces `path`, or leaves it unchanged on failure.
Status WriteExplorationState(const std::filesystem::path& path, const ExplorationState& state,
                             const std::vector<Snapshot>& snapshots);

struct SavedExploration {
  ExplorationState state;
  std::vector<Snapshot> snapshots;  // at most kSnapshots
};

// Refuses, with the file's name, a file of another kind, setup or network, or with a wrong checksum.
StatusOr<SavedExploration> ReadExplorationState(const std::filesystem::path& path, const Model& model,
                                                const std::map<std::string, std::string>& setup);

}  // namespace tributary::inline explore
