#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tributary/base/wall_clock.h"
#include "tributary/telemetry/event.h"

namespace tributary {

// A run as it is kept and compared, apart from where it is kept.

enum class RunState {
  kRunning,
  kFinished,
  kInterrupted,  // Somebody stopped it.
  kFailed,       // It ended with an error, and could still say so.
  kDied,         // It never said how it ended, and its process is gone.
};
std::string_view NameOf(RunState state);

// How a run stands. Accuracies and losses are of the coordinator's test set where there is one, else of what devices hold
// out.
struct RunRecord {
  std::int64_t id = 0;  // In its store; 0 in none.
  std::string name;     // Its folder's, without what leads there.
  std::string folder;   // Absolute; empty where it is gone or was never written.
  RunStarted what;
  RunState state = RunState::kRunning;
  std::string ended_by;   // "rounds", "time", "target", "interrupted"; empty until it has ended.
  bool simulated = true;  // On a virtual clock.
  WallTime started{0};
  std::optional<WallTime> finished;
  std::uint64_t rounds = 0;
  std::optional<double> accuracy;
  std::optional<double> best_accuracy;
  std::optional<double> loss;
  Duration time{0};  // Of the run's own clock.
  Bytes down;
  Bytes up;
  Bytes injected;
  Duration waited{0};   // All participants of all rounds together,
  Duration present{0};  // of the time they had.
  // Events that came faster than they could be kept: totals of devices lack them.
  std::uint64_t missed_events = 0;

  std::optional<double> waiting_share() const;
};

struct RoundRecord {
  TimePoint end{0};
  RoundFinished finished;
  std::uint64_t participants = 0;
  std::uint64_t samples = 0;
  std::optional<double> waiting;  // As RoundShares has them.
  std::optional<double> kept;
};

struct EvaluationRecord {
  TimePoint time{0};
  Evaluated evaluated;
  Bytes down;  // Since the run began.
  Bytes up;
};

struct DeviceRecord {
  DeviceId device;
  std::string group;
  std::uint64_t applied = 0;  // Rounds,
  std::uint64_t missed = 0;   // and those it was asked in without being applied.
  RoundId last_round;
  Outcome last_outcome = Outcome::kApplied;
  std::string reason;  // Of the last time it was not applied. May come from the device: any bytes.
  Duration compute{0};
  Duration transfer{0};
  Duration hidden{0};
  Duration waiting{0};
  Bytes down;
  Bytes up;
  // As it was last said.
  std::optional<double> kept;
  std::optional<double> stream_rate;
  std::uint64_t buffered = 0;
  std::uint64_t dropped = 0;
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

}  // namespace tributary
