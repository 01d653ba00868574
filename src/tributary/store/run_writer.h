#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "tributary/base/status.h"
#include "tributary/base/wall_clock.h"
#include "tributary/store/database.h"
#include "tributary/store/run_record.h"

namespace tributary::inline store {

// Which process this is, as text: its machine, since when that is up, its number and when it began. No other has the same.
std::string ThisProcess();

// Whether the process that called itself so is no more. On the machine it runs on that is known for certain; of others it
// is believed when they have not been heard of for a minute. Text that is no process's is gone.
bool IsGone(std::string_view process, WallTime last_heard, WallTime now);

// Writes what a RunFollower has into a store, a transaction at a time: all of it or, on a failure, nothing.
class RunWriter {
 public:
  // What the events of a run do not say.
  struct Origin {
    std::string name;
    std::string folder;
    std::string toml;     // The experiment; empty where it is too large to keep.
    std::string process;  // as ThisProcess has it
    bool simulated = true;
    bool resumed =
        false;  // Goes on with the run of that folder, if there is one. Otherwise this is another run.
  };

  static StatusOr<std::unique_ptr<RunWriter>> Open(const std::filesystem::path& store, Origin origin,
                                                   std::chrono::milliseconds patience);

  // Writes what has changed, but the rows of devices only where `devices` is set; the follower's changes are then cleared.
  // The time is that of the last sign of life, and of the run's beginning where it has none.
  Status Write(RunFollower& follower, WallTime now, bool devices);
  // A sign of life alone.
  Status Beat(WallTime now);

  void set_patience(std::chrono::milliseconds patience) { database_->set_patience(patience); }
  std::int64_t run() const { return run_; }  // 0 before the first Write.

 private:
  RunWriter(std::unique_ptr<Database> database, Origin origin)
      : database_(std::move(database)), origin_(std::move(origin)) {}

  Status WriteAll(RunFollower& follower, WallTime now, bool devices);
  StatusOr<std::int64_t> BeginRun(RunRecord& run, WallTime now);
  Status WriteRun(const RunRecord& run, WallTime now);
  Status WriteRounds(const RunFollower::Changes& changes);
  Status WriteEvaluations(const RunFollower::Changes& changes);
  Status WriteDetails(const RunFollower::Changes& changes);
  Status WriteDevices(const RunFollower& follower);

  std::unique_ptr<Database> database_;
  const Origin origin_;
  std::int64_t run_ = 0;
  std::uint64_t details_ = 0;  // Rounds with details so far, and
  std::uint64_t notes_ = 0;    // notes.
};

// Milliseconds since 1970, as a store has times of day.
std::int64_t ToMilliseconds(WallTime time);

// Everything about one run.
Status DeleteRun(Database& database, std::int64_t run);

}  // namespace tributary::inline store
