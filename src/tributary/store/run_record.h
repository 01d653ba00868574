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

// A run as it is kept and compared, apart from where it is kept.

enum class RunState {
  kRunning,
  kFinished,
  kInterrupted,  // Somebody stopped it.
  kFailed,       // It ended with an error, and could still say so.
  kDied,         // It never said how it ended, and its process is gone.
};
inline constexpr std::array<std::string_view, 5> kRunStateNames = {"running", "finished", "interrupted",
                                                                   "failed", "died"};
constexpr std::string_view NameOf(RunState state) { return kRunStateNames[static_cast<std::size_t>(state)]; }

struct RunRecord : RunSums {
  std::int64_t id = 0;  // In its store; 0 in none.
  std::string name;     // Its folder's, without what leads there.
  std::string folder;   // Absolute; empty where it is gone or was never written.
  RunStarted what;
  RunState state = RunState::kRunning;
  std::string ended_by;   // The name of its RunEnd; empty until it has ended.
  bool simulated = true;  // On a virtual clock.
  WallTime started{0};
  std::optional<WallTime> finished;
  // Events that came faster than they could be kept: totals of devices lack them.
  std::uint64_t missed_events = 0;
};

struct RoundRecord : RoundShares {
  TimePoint end{0};
  RoundFinished finished;
};

struct EvaluationRecord {
  TimePoint time{0};
  Evaluated evaluated;
  Bytes down;  // Since the run began.
  Bytes up;
};

// A store keeps of the totals what kDeviceTimes and kDeviceBytes name, and what was last said.
struct DeviceRecord : DeviceTotals {
  std::string group;
};

struct NoteRecord {
  TimePoint time{0};
  std::string text;
};

// All of a run that is not about single devices in single rounds.
struct RunHistory {
  RunRecord run;
  std::vector<RoundRecord> rounds;
  std::vector<EvaluationRecord> evaluations;
  std::vector<DeviceRecord> devices;
};

// Adds up a run from its events, and keeps what has come since somebody last took it: what a store writes. Events may come
// from a log that anybody could have written: whatever they say, memory stays in proportion to their number and to
// kMostDevices.
class RunFollower : public EventSink {
 public:
  // Of what single devices did in single rounds, so many are kept between two takings: the rounds that came last.
  static constexpr std::size_t kMostDeviceRounds = 2000;
  static constexpr std::uint64_t kMostDevices = 100'000;
  static constexpr std::size_t kMostNotes = 1000;
  static constexpr std::size_t kLongestText = 1000;  // Of names, notes and reasons, in bytes.

  // What each device of a round did.
  struct DetailedRound {
    RoundId round;
    std::vector<DeviceFinished> devices;
  };
  struct Changes {
    bool restarted =
        false;  // A run began: whatever was taken before is of another, or of one that starts over.
    std::vector<RoundRecord> rounds;
    std::vector<EvaluationRecord> evaluations;
    std::vector<NoteRecord> notes;
    std::set<std::size_t> devices;  // Numbers of those that changed.
    std::deque<DetailedRound> details;
  };

  // `groups` names the groups of the first devices, in their order; others have none.
  explicit RunFollower(std::vector<std::string> groups = {}) : groups_(std::move(groups)) {}

  void Write(const Event& event) override;

  bool started() const { return totals_.run.has_value(); }
  const RunRecord& run() const { return run_; }
  RunRecord& run() { return run_; }
  // Of those before the last that was heard of.
  std::size_t device_count() const { return totals_.devices.size(); }
  DeviceRecord device(std::size_t number) const;
  // What has come since ClearChanges, which whoever has taken it calls.
  const Changes& changes() const { return changes_; }
  void ClearChanges();
  // The same but for the changes of single devices, for those who take them less often.
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

  std::vector<std::string> groups_;
  RunTotals totals_{kMostDevices};
  RunRecord run_;
  Changes changes_;
  std::vector<DeviceFinished> round_;  // Of the round that runs.
  std::size_t detailed_ = 0;           // Devices in changes_.details.
  std::size_t notes_ = 0;
};

}  // namespace tributary::inline store
