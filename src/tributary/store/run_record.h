#pragma once

#include <array>
#include <cstdint>
#include <optional>
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

}  // namespace tributary::inline store
