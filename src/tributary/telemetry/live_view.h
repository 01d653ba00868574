#pragma once

#include <cstdio>
#include <optional>
#include <set>
#include <string_view>

#include "tributary/telemetry/live_text.h"
#include "tributary/telemetry/progress.h"
#include "tributary/telemetry/sink.h"

namespace tributary::inline telemetry {

// Shows a run to a person while it lasts. All styles but kQuiet say what runs and how it ended, each note,
// and the first refusal of each device. Between,
//
//   kTerminal  keeps one line that overwrites itself: round, the run's time, accuracy, slowest device, time
//              left;
//   kPlain     prints a line per round, or for some of them in a long run (IsShown), and always for one that
//              was evaluated. A round's line waits for its evaluation, until something else happens.
//
// The time left is of the person's clock, at the pace of the last seconds; the time shown is the run's own,
// from its events. Failures to write are ignored.
class LiveView : public EventSink {
 public:
  struct Options {
    ProgressStyle style = ProgressStyle::kQuiet;
    std::size_t columns = 0;  // Of a terminal; 0 asks it at each drawing.
  };

  // `clock`, the person's, and `out` must outlive it.
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

  bool terminal() const { return options_.style == ProgressStyle::kTerminal; }
  // A line of its own, above the one that overwrites itself.
  void PrintLine(std::string_view line);
  // Prints the line of the round that finished last, if it has one and it has not been printed.
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
