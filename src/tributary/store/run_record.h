#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/wall_clock.h"
#include "tributary/telemetry/run_totals.h"

namespace tributary::inline store {

// A run as stored and compared, independent of where it is stored.

enum class RunState {
  kRunning,
  kFinished,
  kInterrupted,  // stopped by a person
  kFailed,       // ended with an error and recorded it
  kDied,         // the process ended without recording why
};
inline constexpr std::array<std::string_view, 5> kRunStateNames = {"running", "finished", "interrupted",
                                                                   "failed", "died"};
constexpr std::string_view NameOf(RunState state) { return kRunStateNames[static_cast<std::size_t>(state)]; }

struct RunRecord : RunSums {
  std::int64_t id = 0;  // in its store; 0: in none
  std::string name;     // last component of the folder
  std::string folder;   // absolute; empty if removed or never written
  RunStarted what;
  RunState state = RunState::kRunning;
  std::string ended_by;   // name of its RunEnd; empty until it ends
  bool simulated = true;  // on a virtual clock
  WallTime started{0};
  std::optional<WallTime> finished;
  // Events dropped because they arrived too fast: device totals lack them.
  std::uint64_t missed_events = 0;
};

struct RoundRecord : RoundShares {
  TimePoint end{0};
  RoundFinished finished;
};

struct EvaluationRecord {
  TimePoint time{0};
  Evaluated evaluated;
  Bytes down;  // since the start of the run
  Bytes up;
};

// Of the totals, a store keeps those in kDeviceTimes and kDeviceBytes, and the last values.
struct DeviceRecord : DeviceTotals {
  std::string group;
};

struct NoteRecord {
  TimePoint time{0};
  std::string text;
};

// All data of a run except those of single devices in single rounds.
struct RunHistory {
  RunRecord run;
  std::vector<RoundRecord> rounds;
  std::vector<EvaluationRecord> evaluations;
  std::vector<DeviceRecord> devices;
};

// Accumulates a run from its events, and collects changes for a store. Events may come from an untrusted log:
// memory is proportional to their number and to kMostDevices.
class RunFollower : public EventSink {
 public:
  // Maximum device details kept between two ClearChanges; the newest rounds are kept.
  static constexpr std::size_t kMostDeviceRounds = 2000;
  static constexpr std::uint64_t kMostDevices = 100'000;
  static constexpr std::size_t kMostNotes = 1000;
  static constexpr std::size_t kLongestText = 1000;  // names, notes and reasons, in bytes

  // What each device of a round did.
  struct DetailedRound {
    RoundId round;
    std::vector<DeviceFinished> devices;
  };
  struct Changes {
    bool restarted = false;  // a run has begun or started over: earlier changes are obsolete
    std::vector<RoundRecord> rounds;
    std::vector<EvaluationRecord> evaluations;
    std::vector<NoteRecord> notes;
    std::set<std::size_t> devices;  // changed devices
    std::deque<DetailedRound> details;
  };

  // `groups`: the groups of the first devices; others have none.
  explicit RunFollower(std::vector<std::string> groups = {}) : groups_(std::move(groups)) {}
  void Write(const Event& event) override;
  bool started() const { return totals_.run.has_value(); }
  const RunRecord& run() const { return run_; }
  RunRecord& run() { return run_; }
  // One more than the largest device number seen.
  std::size_t device_count() const { return totals_.devices.size(); }
  DeviceRecord device(std::size_t number) const;
  // The changes since ClearChanges; call it after storing them.
  const Changes& changes() const { return changes_; }
  void ClearChanges();
  // Keeps the changes of devices, for callers that store them less often.
  void ClearChangesButDevices();
  void set_groups(std::vector<std::string> groups);

 private:
  void On(TimePoint time, const RunStarted& run);
  void On(TimePoint time, const RoundStarted& round);
  void On(TimePoint time, const DeviceFinished& device);
  void On(TimePoint time, const RoundFinished& round);
  void On(TimePoint time, const Evaluated& evaluated);
  void On(TimePoint time, const RunFinished& run);
  void On(TimePoint time, const Note& note);
  void On(TimePoint time, const RolledBack& back) { On(time, Note{back.reason}); }
  void On(TimePoint time, const Quarantined& device) { On(time, Note{device.reason}); }

  std::vector<std::string> groups_;
  RunTotals totals_{kMostDevices};
  RunRecord run_;
  Changes changes_;
  std::vector<DeviceFinished> round_;  // the running round
  std::size_t detailed_ = 0;           // devices in changes_.details
  std::size_t notes_ = 0;
};

}  // namespace tributary::inline store
