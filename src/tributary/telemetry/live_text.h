#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tributary/base/clock.h"
#include "tributary/telemetry/event.h"

namespace tributary::inline telemetry {

// What a live view says, as functions of events alone. None of the texts ends its line or holds a control
// character.

// A finished round, with what else became known about it.
struct RoundSummary {
  TimePoint time{0};         // When it finished.
  std::uint64_t rounds = 0;  // Planned; 0 if not known.
  std::uint64_t participants = 0;
  RoundFinished finished;
  std::optional<Evaluated> central = {};
  std::optional<Evaluated> devices = {};
};

// Where a run stands between its events.
struct LiveState {
  TimePoint time{0};
  std::uint64_t rounds = 0;  // Planned; 0 if not known.
  std::uint64_t round = 0;   // Running, or finished last.
  std::uint64_t participants = 0;
  std::uint64_t back = 0;  // Participants that are done with this round.
  std::optional<double> accuracy = {};
  std::optional<DeviceId> slowest = {};
};

// "first: sync-sgd of resnet8 on glyphs, 8 devices, 78.0 k parameters, seed 1", and what is charged instead,
// if so.
std::string FormatRunStarted(const RunStarted& run);
// "round 3/100  after 1 min 12 s  7/8 applied, 1 late  loss 0.412  accuracy 81.2 %  slowest device 5"
std::string FormatRound(const RoundSummary& round);
// "round 0/100  after 0 µs  accuracy 9.8 %": an evaluation apart from a round's own line.
std::string FormatEvaluated(const Evaluated& evaluated, std::uint64_t rounds, TimePoint time);
// "finished after 100 rounds and 2 h 3 min, accuracy 91.2 %"
std::string FormatRunFinished(const RunFinished& run, TimePoint time);
// "round 3: device 5 refused: element 0 of the update is nan"
std::string FormatDevice(const DeviceFinished& device);
// "round 3/100  1 min 12 s  6/8 back  accuracy 81.2 %  slowest device 5", for a line that overwrites itself.
std::string FormatLive(const LiveState& state);

// Whether a log shows this round even if nothing special happened in it: each of up to 200 planned rounds; of
// more, the first, the last and 200 at most in even steps. If their number is not known, steps grow
// tenfold.
bool IsShown(std::uint64_t round, std::uint64_t rounds);

}  // namespace tributary::inline telemetry
