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

// Everything that happens in a run, as plain values: what the simulator, real coordinators, live views, logs,
// reports and tests have in common. A run is
//
//   run-started, then for each round: round-started, a device-finished for each participant, round-finished;
//   evaluated and note anywhere between; run-finished.
//
// Rounds count from 1; an evaluation in round 0 is of the weights the run started with. Losses and accuracies
// that are not known are absent; a loss that is infinite or not a number is a finding, and is kept.

struct RunStarted {
  std::string experiment;
  std::uint64_t seed = 0;
  std::string method;
  std::string model;       // What is trained.
  std::string compute_as;  // The model whose time and bytes are charged, where it is another one; else empty.
  std::string data;
  std::uint64_t devices = 0;
  std::uint64_t parameters = 0;
  std::uint64_t rounds = 0;  // Planned; 0 where something else ends the run.
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
  // How many participants had each outcome.
  std::uint64_t applied = 0;
  std::uint64_t late = 0;
  std::uint64_t lost = 0;
  std::uint64_t refused = 0;
  std::uint64_t crashed = 0;
  std::optional<double> train_loss;  // Of what was applied, weighted by samples.
  std::optional<DeviceId> slowest;   // The one the round waited for longest.
  std::uint64_t buffered = 0;        // Samples in all devices' buffers.
  std::optional<double> overlap;     // Of what could be hidden behind computation, the share that was.
  Bytes bytes_down;
  Bytes bytes_up;
  Bytes bytes_injected;  // Of both: samples that devices share.

  OutcomeCounts outcomes() const { return {applied, late, lost, refused, crashed}; }
  friend bool operator==(const RoundFinished&, const RoundFinished&) = default;
};

enum class EvaluatedWhere {
  kCentral,  // On the coordinator's test set.
  kDevices,  // On what the devices hold out, weighted by samples.
};
inline constexpr std::array<std::string_view, 2> kWhereNames = {"central", "devices"};
constexpr std::string_view NameOf(EvaluatedWhere where) {
  return kWhereNames[static_cast<std::size_t>(where)];
}

struct Evaluated {
  RoundId round;
  EvaluatedWhere where = EvaluatedWhere::kCentral;
  double accuracy = 0;  // Between 0 and 1.
  double loss = 0;
  std::uint64_t samples = 0;
  friend bool operator==(const Evaluated&, const Evaluated&) = default;
};

enum class RunEnd {
  kRounds,       // All planned rounds were run.
  kTime,         // The time budget is spent.
  kTarget,       // The target accuracy was reached.
  kInterrupted,  // Somebody stopped it.
};
inline constexpr std::array<std::string_view, 4> kRunEndNames = {"rounds", "time", "target", "interrupted"};
constexpr std::string_view NameOf(RunEnd end) { return kRunEndNames[static_cast<std::size_t>(end)]; }

struct RunFinished {
  std::uint64_t rounds = 0;
  RunEnd reason = RunEnd::kRounds;
  std::optional<double> accuracy;  // Of the final weights.
  friend bool operator==(const RunFinished&, const RunFinished&) = default;
};

// Something worth saying that has no form of its own.
struct Note {
  std::string text;
  friend bool operator==(const Note&, const Note&) = default;
};

struct Event {
  TimePoint time{0};  // Of the run's clock, real or virtual.
  std::variant<RunStarted, RoundStarted, DeviceFinished, RoundFinished, Evaluated, RunFinished, Note> what;
  friend bool operator==(const Event&, const Event&) = default;
};

}  // namespace tributary::inline telemetry
