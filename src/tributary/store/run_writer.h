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

// Identifies this process, as text: host name, boot id, process id and start time.
std::string ThisProcess();

// Whether the process with this identity has ended. Certain on its own machine; processes of other machines
// count as ended after a minute without heartbeat. True for any other text.
bool IsGone(std::string_view process, WallTime last_heard, WallTime now);

// Writes the changes of a RunFollower to a store, one transaction at a time.
class RunWriter {
 public:
  // Metadata that the events do not contain.
  struct Origin {
    std::string name;
    std::string folder;
    std::string toml;     // the experiment; empty if too large to store
    std::string process;  // as from ThisProcess
    bool simulated = true;
    bool resumed = false;  // continue the run of that folder, if any; otherwise this is another run
  };

  static StatusOr<std::unique_ptr<RunWriter>> Open(const std::filesystem::path& store, Origin origin,
                                                   std::chrono::milliseconds patience);

  // Writes and clears changes, of devices only if `devices`. `now`: the heartbeat, and a missing start time.
  Status Write(RunFollower& follower, WallTime now, bool devices);
  // Writes only a heartbeat.
  Status Beat(WallTime now);
  void set_patience(std::chrono::milliseconds patience) { database_->set_patience(patience); }
  std::int64_t run() const { return run_; }  // 0 before the first Write

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
  std::uint64_t details_ = 0;  // detailed rounds written
  std::uint64_t notes_ = 0;    // notes written
};

// Deletes all rows of a run.
Status DeleteRun(Database& database, std::int64_t run);

}  // namespace tributary::inline store
