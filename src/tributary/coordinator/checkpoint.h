#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/status.h"
#include "tributary/coordinator/epoch.h"
#include "tributary/fleet/profile.h"
#include "tributary/model/safetensors.h"
#include "tributary/policy/trust/divergence.h"

namespace tributary::inline coordinator {

// The state of a run between two rounds, as a file. Resumed and uninterrupted runs end with the same bits.
//
// A safetensors file with the flat arrays `parameters`, `statistics`, `optimiser.NAME` for each array of the
// optimiser's state, `sound.parameters` and `sound.statistics` if the newest loss was high, and `shared` for samples that members have shared (raw bytes, not floats). The metadata
// has the rest as JSON under `tributary.checkpoint`, and a checksum under `tributary.checksum`.

struct RunProgress {
  std::uint64_t round = 0;             // completed rounds
  Duration elapsed{0};                 // on the run's clock
  std::uint64_t fruitless_rounds = 0;  // latest rounds in a row without a usable result
  std::uint64_t unapplied_rounds = 0;  // in total
  std::optional<double> accuracy;      // of these weights, from 0 to 1, if evaluated
  std::uint64_t optimiser_steps = 0;
  EpochState epoch;           // of methods that plan their samples
  std::vector<double> norms;  // medians of update norms (policy/trust)
  DivergenceGuard::State guard;
  std::uint64_t sound_round = 0;  // of the weights to which a run that diverges returns,
  bool has_sound = false;  // and whether they are in the file: `sound.parameters` and `sound.statistics`
  friend bool operator==(const RunProgress&, const RunProgress&) = default;
};

struct Checkpoint {
  RunProgress progress;
  std::string experiment;       // experiment.toml of the run
  std::uint64_t log_bytes = 0;  // size of events.jsonl at the checkpoint
  std::vector<FleetMember> members;
  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

// Replaces `path` atomically. Arrays are not copied; the name `shared` is reserved. Refuses states that could
// not be read back, e.g. members whose names are not UTF-8 or not distinct.
Status WriteCheckpoint(const std::filesystem::path& path, const Checkpoint& checkpoint,
                       std::span<const SafetensorsSource> arrays);

// A checkpoint in memory, with its checksum verified.
class CheckpointFile {
 public:
  struct Target {
    std::string name;
    std::span<float> values;
  };

  // Safe on any bytes: Corrupt, with the reason, unless WriteCheckpoint wrote them.
  static StatusOr<CheckpointFile> Parse(std::vector<std::byte> bytes);
  // Reads files of up to 64 GB. Errors name the path.
  static StatusOr<CheckpointFile> Read(const std::filesystem::path& path);

  CheckpointFile(CheckpointFile&&) = default;
  CheckpointFile& operator=(CheckpointFile&&) = default;

  const Checkpoint& checkpoint() const { return checkpoint_; }

  // The file must contain exactly these arrays, with these lengths, and possibly `shared`. Otherwise nothing
  // is written and the error names the first difference.
  Status CopyTo(std::span<const Target> targets) const;

 private:
  CheckpointFile() = default;

  std::vector<std::byte> bytes_;
  SafetensorsView view_;  // refers to bytes_, whose buffer does not move
  Checkpoint checkpoint_;
};

// The JSON part of a checkpoint. Numbers read back to the same bits. InvalidArgument if it could not be read
// back: text that is not UTF-8, duplicate members, numbers out of range.
StatusOr<std::string> FormatCheckpoint(const Checkpoint& checkpoint);

// The reverse. Safe on any bytes: Corrupt, with the reason. Unknown keys are skipped. The JSON has only the
// sizes of shared samples: they become zeros, at most `shared_bytes` in total.
StatusOr<Checkpoint> ParseCheckpoint(std::string_view json, std::uint64_t shared_bytes = 0);

// A run's checkpoints: files `round-00000012.checkpoint` in their own folder, which keeps the newest ones.
// One process at a time (RunFolder locks).

// Writes a checkpoint and syncs it to disk, then removes all but the newest `keep`, including this one.
// Creates the folder. On failure, e.g. a full disk, the older ones are unchanged.
Status SaveCheckpoint(const std::filesystem::path& folder, const Checkpoint& checkpoint,
                      std::span<const SafetensorsSource> arrays, std::size_t keep);

struct NewestCheckpoint {
  std::optional<CheckpointFile> file;  // empty if there are none
  std::vector<std::string> problems;   // errors of newer ones, for people
};

// The newest readable checkpoint. Unreadable ones are reported and renamed to `….unreadable`; if none is
// readable, fails and renames nothing. Removes temporary files of killed processes.
StatusOr<NewestCheckpoint> LoadNewestCheckpoint(const std::filesystem::path& folder);

}  // namespace tributary::inline coordinator
