#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/base/wall_clock.h"
#include "tributary/store/downsample.h"
#include "tributary/store/run_record.h"

namespace tributary::inline store {

// The runs recorded in a file (StoreSink, ImportRun), during and after the run. The file is not trusted:
// results are bounded. For one thread at a time; many processes may read while others write.
class RunStore {
 public:
  virtual ~RunStore() = default;

  // NotFound if the file does not exist. Fails in a program without SQLite.
  static StatusOr<std::unique_ptr<RunStore>> Open(const std::filesystem::path& path,
                                                  WallClock wall_clock = SystemWallClock());

  // At most `limit` runs, the newest first. A run whose process ended without recording why is kDied.
  virtual StatusOr<std::vector<RunRecord>> Runs(std::size_t limit) = 0;
  // By number, name (the newest of several), unique prefix of a name, folder path, or "last". For an unknown
  // name, the error suggests the nearest.
  virtual StatusOr<RunRecord> Find(std::string_view which) = 0;

  // The experiment of a run as text; empty if not stored.
  virtual StatusOr<std::string> Experiment(std::int64_t run) = 0;
  // The rounds after round `after`, as at most `points` points.
  virtual StatusOr<std::vector<RoundPoint>> Rounds(std::int64_t run, std::size_t points,
                                                   std::uint64_t after = 0) = 0;
  // At most `points` (≥ 2) central evaluations that preserve the accuracy curve, and as many on devices.
  virtual StatusOr<std::vector<EvaluationRecord>> Evaluations(std::int64_t run, std::size_t points) = 0;
  virtual StatusOr<std::vector<DeviceRecord>> Devices(std::int64_t run) = 0;
  // The rounds with device details, ascending, and the details.
  virtual StatusOr<std::vector<RoundId>> DetailedRounds(std::int64_t run) = 0;
  virtual StatusOr<std::vector<DeviceFinished>> DevicesIn(std::int64_t run, RoundId round) = 0;
  virtual StatusOr<std::vector<NoteRecord>> Notes(std::int64_t run) = 0;

  // Deletes a run from the store; its folder stays. Refused while the run is active.
  virtual Status Remove(std::int64_t run) = 0;
};

// Imports the run in a folder into a store, created if missing, replacing an earlier record of that folder;
// returns its number. Refused while the run is active.
StatusOr<std::int64_t> ImportRun(const std::filesystem::path& store, const std::filesystem::path& folder,
                                 const WallClock& wall_clock = SystemWallClock());

}  // namespace tributary::inline store
