#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "tributary/base/clock.h"
#include "tributary/base/ids.h"
#include "tributary/base/units.h"

namespace tributary {

// Everything that happens in a run, as plain values: what the simulator, real coordinators, live views, logs,
// reports and tests have in common. A run is
//
//   run-started, then for each round: round-started, a device-finished for each participant, round-finished;
//   evaluated and note anywhere between; run-finished.
//
// Rounds count from 1; an evaluation in round 0 is of the weights the run started with. Losses and accuracies
// that nobody knows are absent; a loss that is infinite or not a number is a finding, and is kept.

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

enum class Outcome {
  kApplied,  // Its contribution is in the result.
  kLate,     // It came after the deadline or the quorum.
  kLost,     // It never came: gone, or its messages were.
  kRefused,  // It came and was not acceptable.
  kCrashed,  // The device failed and said so, or its connection broke in the middle.
};

struct DeviceFinished {
  RoundId round;
  DeviceId device;
  Outcome outcome = Outcome::kApplied;
  std::string reason;  // Why it was not applied, for a person. May come from the device: any bytes.
  std::uint64_t samples = 0;
  std::optional<double> loss;
  // Where its time went. They need not add up to the round: transfers hide behind computation.
  Duration pull{0};
  Duration compute{0};
  Duration push{0};
  Duration wait{0};
  Duration hidden{0};               // Of its transfers behind computation.
  Duration hideable{0};             // What could be hidden at most.
  std::optional<Duration> planned;  // How long its part should have taken, where there was a plan.
  Bytes bytes_down;
  Bytes bytes_up;
  // Of a device whose samples arrive over time: the rate as measured, what has arrived and is not used yet, for how long
  // the first of it; what was dropped unused, never came or was no sample since the device was started; and the positions
  // of the stream that its update was learnt from.
  std::optional<double> stream_rate;
  std::uint64_t buffered = 0;
  Duration oldest{0};
  std::uint64_t dropped = 0;
  std::uint64_t missing = 0;
  std::uint64_t undecodable = 0;
  std::optional<std::uint64_t> stream_first;
  std::optional<std::uint64_t> stream_last;
  // Of a device that chooses how much of the network it trains: the share of its multiply-accumulates.
  std::optional<double> kept;
  // Of a device that averages its model with others': with how many it did, and what of the bytes went by way of the
  // coordinator.
  std::optional<std::uint64_t> met;
  Bytes bytes_relayed;
  friend bool operator==(const DeviceFinished&, const DeviceFinished&) = default;
};

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
  friend bool operator==(const RoundFinished&, const RoundFinished&) = default;
};

enum class EvaluatedWhere {
  kCentral,  // On the coordinator's test set.
  kDevices,  // On what the devices hold out, weighted by samples.
};

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

}  // namespace tributary
