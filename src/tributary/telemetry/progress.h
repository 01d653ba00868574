#pragma once

#include <cstdint>
#include <cstdio>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "tributary/base/clock.h"

namespace tributary::inline telemetry {

// `text` with a space for every control character: what came from a file or a device must not move the
// cursor.
std::string Printable(std::string text);

// Writes and flushes. A failure is ignored: showing how far the work is never stops it.
void Print(std::FILE* out, std::string_view text);

enum class ProgressStyle {
  kTerminal,  // One line that overwrites itself.
  kPlain,     // Lines for a log file, now and then; no control characters.
  kQuiet,     // Nothing.
};

// kTerminal where `out` is a terminal that can go back to the start of a line, kPlain elsewhere (TERM=dumb
// included). No style uses colour or escape codes, so there is nothing for NO_COLOR to turn off.
ProgressStyle ProgressStyleFor(std::FILE* out);

// What one line says.
struct ProgressState {
  std::uint64_t done = 0;
  std::uint64_t total = 0;  // 0 if not known: then there is neither share nor time left.
  // What is counted, in the plural: "samples", "rounds". Empty where the text says it, and the rate is not
  // shown.
  std::string_view unit;
  std::string_view text;  // The caller's word on it: "epoch 3, loss 0.412". Control characters become spaces.
  std::optional<double> per_second = {};
  std::optional<Duration> took = {};  // Set on the last line, in place of the time left.
};

// The line without its end, at most `columns` wide (0: as wide as it gets), with a bar where `bar` is set and
// there is room. Every letter is taken to fill one column.
std::string FormatProgress(const ProgressState& state, bool bar, std::size_t columns);

// Shows how far something long has come. A terminal is redrawn at most ten times a second; plain lines come
// at most every five seconds, and not before two have passed, so that short work leaves no trace in a log.
// Rate and time left are those of the last ten seconds or so.
//
//   1. Update as often as there is news: calls that come too early cost one look at the clock.
//   2. Clear before printing anything else to the same place; the next Update draws the line again.
//   3. Finish, which shows the last state whatever the time since the one before. Without it, the destructor
//   only ends
//      an unfinished line: the work was given up, and what comes next starts on a line of its own.
//
// For one thread. Failures to write are ignored: progress never stops the work.
class Progress {
 public:
  struct Options {
    ProgressStyle style = ProgressStyle::kQuiet;
    std::uint64_t total = 0;
    std::string unit = {};
    std::size_t columns = 0;  // Of a terminal; 0 asks it at each drawing.
    bool bar = true;          // On a terminal; one with much to say has no room for it.
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

  // Work per second since about ten seconds ago; notes the sample.
  std::optional<double> Rate(Sample now);
  void Draw(const ProgressState& state);

  const Clock& clock_;
  std::FILE* const out_;
  const Options options_;
  const TimePoint start_;
  TimePoint next_;
  std::deque<Sample> samples_;
  std::size_t drawn_ = 0;  // Columns of the line that stands on the terminal.
  bool finished_ = false;
};

}  // namespace tributary::inline telemetry
