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

namespace tributary::inline coordinator {

// A run between two rounds, as a file: everything that the rest of the run depends on. A run that goes on from it ends
// with the bits of one that was never stopped.
//
// The file is a safetensors file: the flat arrays `parameters`, `statistics` and `optimiser.NAME` for each array of the
// optimiser's state, `shared` for the samples that members have shared, if any (bytes, not floats), and the rest as JSON in its metadata, under `tributary.checkpoint`. A checksum over all of it
// stands under `tributary.checksum`.

// How far a run is.
struct RunProgress {
  std::uint64_t round = 0;             // rounds done
  Duration elapsed{0};                 // of the run's clock
  std::uint64_t fruitless_rounds = 0;  // in a row, up to now, without a usable result
  std::uint64_t unapplied_rounds = 0;  // in all
  std::optional<double> accuracy;      // of these weights, from 0 to 1, where they were evaluated
  std::uint64_t optimiser_steps = 0;
  EpochState epoch;           // of a method that plans its samples
  std::vector<double> norms;  // of updates, as NormHistory has them
  friend bool operator==(const RunProgress&, const RunProgress&) = default;
};

struct Checkpoint {
  RunProgress progress;
  std::string experiment;       // the experiment.toml of the run
  std::uint64_t log_bytes = 0;  // so much of events.jsonl belongs to it
  std::vector<FleetMember> members;
  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

// Replaces `path`, or leaves it as it was. The arrays are not copied, and none is called `shared`. Refused: what could not be
// read back, such as members' names that are not UTF-8 or not distinct.
Status WriteCheckpoint(const std::filesystem::path& path, const Checkpoint& checkpoint,
                       std::span<const SafetensorsSource> arrays);

// A checkpoint in memory, its checksum verified.
class CheckpointFile {
 public:
  // Where an array is to be copied.
  struct Target {
    std::string name;
    std::span<float> values;
  };

  // Any bytes may be given: Corrupt, with the reason, unless they are what WriteCheckpoint wrote.
  static StatusOr<CheckpointFile> Parse(std::vector<std::byte> bytes);
  // Files up to 64 GB are read. Errors name the path.
  static StatusOr<CheckpointFile> Read(const std::filesystem::path& path);

  CheckpointFile(CheckpointFile&&) = default;
  CheckpointFile& operator=(CheckpointFile&&) = default;

  const Checkpoint& checkpoint() const { return checkpoint_; }

  // Beside `shared`, the file must hold exactly these arrays, of these lengths; otherwise the first that differs is named and nothing is
  // written.
  Status CopyTo(std::span<const Target> targets) const;

 private:
  CheckpointFile() = default;

  std::vector<std::byte> bytes_;
  SafetensorsView view_;  // into the bytes, which stay where they are when this is moved
  Checkpoint checkpoint_;
};

// What a checkpoint holds besides its arrays, as JSON. Every number reads back to the same bits. InvalidArgument if it
// could not be read back: a text that is not UTF-8, members of the same name, numbers out of their range.
StatusOr<std::string> FormatCheckpoint(const Checkpoint& checkpoint);

// The reverse. Total on any bytes: Corrupt, saying what is missing or wrong. Keys that this version does not know are
// skipped. What members have shared is not in the JSON, only how long it is: zeros in its place, `shared_bytes` of them
// for all members at most.
StatusOr<Checkpoint> ParseCheckpoint(std::string_view json, std::uint64_t shared_bytes = 0);

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
