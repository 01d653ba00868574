#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "tributary/base/clock.h"
#include "tributary/telemetry/event.h"
#include "tributary/telemetry/progress.h"
#include "tributary/telemetry/sink.h"

namespace tributary::inline telemetry {

// The texts of a live view, as functions of events. None ends with a line end or contains control characters.

// A finished round and its evaluations.
struct RoundSummary {
  TimePoint time{0};         // when it finished
  std::uint64_t rounds = 0;  // planned; 0 if unknown
  std::uint64_t participants = 0;
  RoundFinished finished;
  std::optional<Evaluated> central = {};
  std::optional<Evaluated> devices = {};
};

// The state of a run between its events.
struct LiveState {
  TimePoint time{0};
  std::uint64_t rounds = 0;  // planned; 0 if unknown
  std::uint64_t round = 0;   // running, or finished last
  std::uint64_t participants = 0;
  std::uint64_t back = 0;  // participants that have finished this round
  std::optional<double> accuracy = {};
  std::optional<DeviceId> slowest = {};
};

// "first: sync-sgd of resnet8 on glyphs, 8 devices, 78.0 k parameters, seed 1", and what is charged instead.
std::string FormatRunStarted(const RunStarted& run);
// "round 3/100  after 1 min 12 s  7/8 applied, 1 late  loss 0.412  accuracy 81.2 %  slowest device 5"
std::string FormatRound(const RoundSummary& round);
// "round 0/100  after 0 µs  accuracy 9.8 %": an evaluation outside a round's line.
std::string FormatEvaluated(const Evaluated& evaluated, std::uint64_t rounds, TimePoint time);
// "finished after 100 rounds and 2 h 3 min, accuracy 91.2 %"
std::string FormatRunFinished(const RunFinished& run, TimePoint time);
// "round 3: device 5 refused: element 0 of the update is nan"
std::string FormatDevice(const DeviceFinished& device);
// "round 3/100  1 min 12 s  6/8 back  accuracy 81.2 %  slowest device 5", for a line that is overwritten.
std::string FormatLive(const LiveState& state);

// Whether a log shows this round even without news: every round if up to 200 are planned; otherwise the
// first, the last, and at most 200 in even steps. If the number is unknown, steps grow tenfold.
bool IsShown(std::uint64_t round, std::uint64_t rounds);

// Shows a run to a person. All styles but kQuiet print what runs and how it ended, each note, and the first
// refusal of each device. In between,
//
//   kTerminal  overwrites one line: round, the run's time, accuracy, slowest device, time left;
//   kPlain     prints a line per round (in a long run, those of IsShown) and for every evaluated round.
//              A round's line waits for its evaluation, until something else happens.
//
// The time left is wall-clock time at the current pace, the time shown is the run's. Ignores write failures.
class LiveView : public EventSink {
 public:
  struct Options {
    ProgressStyle style = ProgressStyle::kQuiet;
    std::size_t columns = 0;  // of a terminal; 0: ask it at each drawing
  };

  // `clock`, the wall clock, and `out` must outlive it.
  LiveView(const Clock& clock, std::FILE* out, Options options);
  ~LiveView() override;
  void Write(const Event& event) override;

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

  bool terminal() const { return options_.style == ProgressStyle::kTerminal; }
  // Prints a separate line above the one that is overwritten.
  void PrintLine(std::string_view line);
  // Prints the line of the last finished round, if pending.
  void PrintRound();
  void Redraw();

  const Clock& clock_;
  std::FILE* const out_;
  const Options options_;
  LiveState state_;
  std::uint64_t finished_rounds_ = 0;
  bool central_seen_ = false;
  std::set<DeviceId> refused_;
  std::optional<RoundSummary> waiting_;
  std::optional<Progress> progress_;
};

}  // namespace tributary::inline telemetry
