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

// The runs that were recorded in a file (StoreSink, ImportRun), while they go on and afterwards. The file is not trusted:
// whatever stands in it, answers are bounded and errors say what to do. For one thread at a time; any number of processes
// may read while others write.
class RunStore {
 public:
  virtual ~RunStore() = default;

  // NotFound where there is none. A program without SQLite says so.
  static StatusOr<std::unique_ptr<RunStore>> Open(const std::filesystem::path& path,
                                                  WallClock wall_clock = SystemWallClock());

  // The newest first, `limit` at most. One whose process is gone without a word is kDied.
  virtual StatusOr<std::vector<RunRecord>> Runs(std::size_t limit) = 0;
  // By its number, its name (of several the newest), a beginning that only one name has, its folder's path, or "last". An
  // unknown one is answered with the nearest name.
  virtual StatusOr<RunRecord> Find(std::string_view which) = 0;

  // Of one run, by its number.
  // The experiment as text; empty where it was not kept.
  virtual StatusOr<std::string> Experiment(std::int64_t run) = 0;
  // Those after round `after`, as at most `points` points.
  virtual StatusOr<std::vector<RoundPoint>> Rounds(std::int64_t run, std::size_t points,
                                                   std::uint64_t after = 0) = 0;
  // At most `points` (2 or more) that show the form of the curve of accuracy over time; of those on devices as many again.
  virtual StatusOr<std::vector<EvaluationRecord>> Evaluations(std::int64_t run, std::size_t points) = 0;
  virtual StatusOr<std::vector<DeviceRecord>> Devices(std::int64_t run) = 0;
  // The rounds of which it is known what each device did, ascending; and what that was.
  virtual StatusOr<std::vector<RoundId>> DetailedRounds(std::int64_t run) = 0;
  virtual StatusOr<std::vector<DeviceFinished>> DevicesIn(std::int64_t run, RoundId round) = 0;
  virtual StatusOr<std::vector<NoteRecord>> Notes(std::int64_t run) = 0;

  // Forgets a run; its folder stays. Refused while it goes on.
  virtual Status Remove(std::int64_t run) = 0;
};

// Takes the run in a folder into a store, which is made where there is none, in place of what the store had of that
// folder; returns its number. Refused for one that goes on.
StatusOr<std::int64_t> ImportRun(const std::filesystem::path& store, const std::filesystem::path& folder,
                                 const WallClock& wall_clock = SystemWallClock());

}  // namespace tributary::inline store
