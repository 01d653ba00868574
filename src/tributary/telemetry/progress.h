#pragma once

#include <cstdint>
#include <cstdio>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "tributary/base/clock.h"

namespace tributary::inline telemetry {

// Replaces control characters with spaces: text from a file or a device must not move the cursor.
std::string Printable(std::string text);

// Writes and flushes. Failures are ignored, so that showing progress never stops the work.
void Print(std::FILE* out, std::string_view text);

enum class ProgressStyle {
  kTerminal,  // one line that is overwritten
  kPlain,     // occasional lines for a log file; no control characters
  kQuiet,     // nothing
};

// kTerminal if `out` is a terminal that can return to the start of a line, else kPlain (also for TERM=dumb).
// No style uses colour or escape codes, so NO_COLOR has no effect.
ProgressStyle ProgressStyleFor(std::FILE* out);

// The content of one line.
struct ProgressState {
  std::uint64_t done = 0;
  std::uint64_t total = 0;  // 0 if unknown: no percentage and no time left
  // What is counted, in the plural: "samples", "rounds". If empty, the rate is not shown.
  std::string_view unit;
  std::string_view text;  // the caller's text: "epoch 3, loss 0.412". Control characters become spaces
  std::optional<double> per_second = {};
  std::optional<Duration> took = {};  // on the last line, instead of the time left
};

// The line without its end, at most `columns` wide (0: unlimited), with a bar if `bar` is set and there is
// room. Assumes one column per character.
std::string FormatProgress(const ProgressState& state, bool bar, std::size_t columns);

// Shows the progress of long work. A terminal is redrawn at most ten times a second; plain lines appear at
// most every five seconds and not in the first two, so that short work leaves no trace in a log. Rate and
// time left are from the last ten seconds.
//
//   1. Update on every change: calls that come too early only read the clock.
//   2. Clear before printing anything else to the same place; the next Update draws the line again.
//   3. Finish always shows the last state. Without it, the destructor only ends an unfinished line.
//
// For one thread. Write failures are ignored.
class Progress {
 public:
  struct Options {
    ProgressStyle style = ProgressStyle::kQuiet;
    std::uint64_t total = 0;
    std::string unit = {};
    std::size_t columns = 0;  // of a terminal; 0: ask it at each drawing
    bool bar = true;          // on a terminal
  };

  // `clock` and `out` must outlive it.
  Progress(const Clock& clock, std::FILE* out, Options options);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Update(std::uint64_t done, std::string_view text);
  void Clear();
  void Finish(std::uint64_t done, std::string_view text);

 private:
  struct Sample {
    TimePoint time;
    std::uint64_t done;
  };

  // Work per second over the last ten seconds; records the sample.
  std::optional<double> Rate(Sample now);
  void Draw(const ProgressState& state);

  const Clock& clock_;
  std::FILE* const out_;
  const Options options_;
  const TimePoint start_;
  TimePoint next_;
  std::deque<Sample> samples_;
  std::size_t drawn_ = 0;  // columns of the line on the terminal
  bool finished_ = false;
};

}  // namespace tributary::inline telemetry
