#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "tributary/base/clock.h"
#include "tributary/base/ids.h"
#include "tributary/base/units.h"
#include "tributary/telemetry/device_round.h"

namespace tributary::inline telemetry {

// All events of a run as plain values, for simulator, coordinators, views, logs, reports and tests. A run is
//
//   run-started, then for each round: round-started, a device-finished for each participant, round-finished;
//   evaluated, note, rolled-back and quarantined anywhere between; run-finished.
//
// Rounds count from 1; an evaluation in round 0 is of the initial weights. Unknown losses and accuracies are
// absent; infinite and NaN losses are kept.

struct RunStarted {
  std::string experiment;
  std::uint64_t seed = 0;
  std::string method;
  std::string model;
  std::string compute_as;  // the model whose time and bytes are charged, if another one; else empty
  std::string data;
  std::uint64_t devices = 0;
  std::uint64_t parameters = 0;
  std::uint64_t rounds = 0;  // planned; 0 if another condition ends the run
  friend bool operator==(const RunStarted&, const RunStarted&) = default;
};

struct RoundStarted {
  RoundId round;
  std::uint64_t participants = 0;
  friend bool operator==(const RoundStarted&, const RoundStarted&) = default;
};

// How many participants had each outcome.
using OutcomeCounts = std::array<std::uint64_t, kOutcomeNames.size()>;

struct RoundFinished {
  RoundId round;
  Duration duration{0};
  // Participants per outcome.
  std::uint64_t applied = 0;
  std::uint64_t late = 0;
  std::uint64_t lost = 0;
  std::uint64_t refused = 0;
  std::uint64_t crashed = 0;
  std::optional<double> train_loss;  // of the applied contributions, weighted by samples
  std::optional<DeviceId> slowest;   // the device the round waited for longest
  std::uint64_t buffered = 0;        // samples in all devices' buffers
  std::optional<double> overlap;     // fraction of the hideable transfers that were hidden
  Bytes bytes_down;
  Bytes bytes_up;
  Bytes bytes_injected;  // samples shared between devices; included in both

  OutcomeCounts outcomes() const { return {applied, late, lost, refused, crashed}; }
  friend bool operator==(const RoundFinished&, const RoundFinished&) = default;
};

enum class EvaluatedWhere {
  kCentral,  // on the coordinator's test set
  kDevices,  // on the devices' hold-out samples, weighted by samples
};
inline constexpr std::array<std::string_view, 2> kWhereNames = {"central", "devices"};
constexpr std::string_view NameOf(EvaluatedWhere where) {
  return kWhereNames[static_cast<std::size_t>(where)];
}

struct Evaluated {
  RoundId round;
  EvaluatedWhere where = EvaluatedWhere::kCentral;
  double accuracy = 0;  // from 0 to 1
  double loss = 0;
  std::uint64_t samples = 0;
  friend bool operator==(const Evaluated&, const Evaluated&) = default;
};

enum class RunEnd {
  kRounds,       // all planned rounds were run
  kTime,         // the time budget is spent
  kTarget,       // the target accuracy was reached
  kInterrupted,  // stopped by a person
};
inline constexpr std::array<std::string_view, 4> kRunEndNames = {"rounds", "time", "target", "interrupted"};
constexpr std::string_view NameOf(RunEnd end) { return kRunEndNames[static_cast<std::size_t>(end)]; }

struct RunFinished {
  std::uint64_t rounds = 0;
  RunEnd reason = RunEnd::kRounds;
  std::optional<double> accuracy;  // of the final weights
  friend bool operator==(const RunFinished&, const RunFinished&) = default;
};

// The run diverged, and its weights are again those after round `to`.
struct RolledBack {
  RoundId round;
  RoundId to;
  std::string reason;
  friend bool operator==(const RolledBack&, const RolledBack&) = default;
};

// A device that the run does without from now on, until an operator admits it.
struct Quarantined {
  RoundId round;
  DeviceId device;
  std::string reason;
  friend bool operator==(const Quarantined&, const Quarantined&) = default;
};

// A message for a person.
struct Note {
  std::string text;
  friend bool operator==(const Note&, const Note&) = default;
};

struct Event {
  TimePoint time{0};  // on the run's clock, real or virtual
  std::variant<RunStarted, RoundStarted, DeviceFinished, RoundFinished, Evaluated, RunFinished, Note,
               RolledBack, Quarantined>
      what;
  friend bool operator==(const Event&, const Event&) = default;
};

}  // namespace tributary::inline telemetry
