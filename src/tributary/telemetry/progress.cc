#include "tributary/telemetry/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "tributary/base/units.h"

namespace tributary::inline telemetry {
namespace {

using namespace std::chrono_literals;

constexpr Duration kRedraw = 100ms;
constexpr Duration kPlainInterval = 5s;
constexpr Duration kPlainStart = 2s;
constexpr Duration kRateWindow = 10s;
constexpr Duration kSampleInterval = 500ms;
constexpr std::size_t kBarColumns = 24;
// Narrower terminals get no bar. Independent of the text: a bar that came and went would flicker.
constexpr std::size_t kColumnsForABar = 60;

bool ContinuesALetter(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

std::size_t Columns(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !ContinuesALetter(c); }));
}

// The first `columns` characters.
std::string_view Trimmed(std::string_view text, std::size_t columns) {
  std::size_t end = 0;
  for (; end < text.size(); ++end) {
    if (ContinuesALetter(text[end])) continue;
    if (columns == 0) break;
    --columns;
  }
  return text.substr(0, end);
}

std::string Bar(double share) {
  const auto filled = static_cast<std::size_t>(share * static_cast<double>(kBarColumns));
  return "[" + std::string(filled, '#') + std::string(kBarColumns - filled, '.') + "]";
}

// Whole seconds: tenths of an estimate only flicker.
std::string TimeLeft(double seconds) {
  if (seconds < 59.5) return fmt::format("{:.0f} s left", seconds);
  constexpr double kYear = 365.0 * 24 * 3600;
  return seconds < kYear ? FormatDuration(FromSeconds(seconds)) + " left" : "more than a year left";
}

std::size_t TerminalColumns(std::FILE* out) {
  winsize size{};
  if (::ioctl(::fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

}  // namespace

std::string Printable(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; },
      ' ');
  return text;
}

// fmt::print throws if the disk is full.
void Print(std::FILE* out, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), out);
  std::fflush(out);
}

ProgressStyle ProgressStyleFor(std::FILE* out) {
  const char* terminal = std::getenv("TERM");
  const bool dumb =
      terminal == nullptr || std::string_view(terminal).empty() || std::string_view(terminal) == "dumb";
  return !dumb && ::isatty(::fileno(out)) == 1 ? ProgressStyle::kTerminal : ProgressStyle::kPlain;
}

std::string FormatProgress(const ProgressState& state, bool bar, std::size_t columns) {
  std::string line;
  if (state.total > 0) {
    const double share = std::min(1.0, static_cast<double>(state.done) / static_cast<double>(state.total));
    // Rounded down: 100 % only when done.
    line = fmt::format("{:3}%", static_cast<int>(share * 100));
    if (bar && (columns == 0 || columns >= kColumnsForABar)) line += " " + Bar(share);
  } else if (!state.unit.empty()) {
    line = fmt::format("{} {}", FormatCount(static_cast<double>(state.done)), state.unit);
  }
  if (!state.text.empty()) line += fmt::format("{}{}", line.empty() ? "" : "  ", state.text);
  if (state.per_second && !state.unit.empty()) {
    line += fmt::format("  {} {}/s", FormatCount(*state.per_second), state.unit);
  }
  if (state.took) {
    line += fmt::format("  in {}", FormatDuration(*state.took));
  } else if (state.per_second.value_or(0) > 0 && state.total > state.done) {
    line += "  " + TimeLeft(static_cast<double>(state.total - state.done) / *state.per_second);
  }
  line = Printable(std::move(line));
  return columns == 0 ? line : std::string(Trimmed(line, columns));
}

Progress::Progress(const Clock& clock, std::FILE* out, Options options)
    : clock_(clock),
      out_(out),
      options_(std::move(options)),
      start_(clock.Now()),
      next_(options_.style == ProgressStyle::kPlain ? start_ + kPlainStart : start_),
      samples_{{start_, 0}} {}

Progress::~Progress() {
  if (drawn_ > 0) Print(out_, "\n");
}

void Progress::Update(std::uint64_t done, std::string_view text) {
  if (options_.style == ProgressStyle::kQuiet || finished_) return;
  const TimePoint now = clock_.Now();
  const std::optional<double> rate = Rate({now, done});
  if (now < next_) return;
  next_ = now + (options_.style == ProgressStyle::kPlain ? kPlainInterval : kRedraw);
  Draw({done, options_.total, options_.unit, text, rate});
}

void Progress::Clear() {
  if (drawn_ == 0) return;
  Print(out_, fmt::format("\r{:{}}\r", "", drawn_));
  drawn_ = 0;
  next_ = clock_.Now();
}

void Progress::Finish(std::uint64_t done, std::string_view text) {
  if (options_.style == ProgressStyle::kQuiet || finished_) return;
  finished_ = true;
  const Duration took = clock_.Now() - start_;
  if (options_.style == ProgressStyle::kPlain && took < kPlainStart) return;
  // The rate of the last line is the mean.
  const double seconds = ToSeconds(took);
  const std::optional<double> rate =
      seconds > 0 ? std::optional(static_cast<double>(done) / seconds) : std::nullopt;
  Draw({done, options_.total, options_.unit, text, rate, took});
  if (drawn_ > 0) Print(out_, "\n");
  drawn_ = 0;
}

std::optional<double> Progress::Rate(Sample now) {
  while (samples_.size() > 1 && now.time - samples_[1].time >= kRateWindow) samples_.pop_front();
  const Sample oldest = samples_.front();
  if (now.time - samples_.back().time >= kSampleInterval) samples_.push_back(now);
  if (now.time <= oldest.time || now.done < oldest.done) return std::nullopt;
  return static_cast<double>(now.done - oldest.done) / ToSeconds(now.time - oldest.time);
}

void Progress::Draw(const ProgressState& state) {
  if (options_.style == ProgressStyle::kPlain) {
    Print(out_, FormatProgress(state, false, 0) + "\n");
  } else {
    // One column is left free: some terminals wrap after the last one.
    const std::size_t columns = options_.columns != 0 ? options_.columns : TerminalColumns(out_);
    const std::string line = FormatProgress(state, options_.bar, std::max<std::size_t>(columns, 2) - 1);
    const std::size_t width = Columns(line);
    // Spaces overwrite the rest of a longer previous line.
    Print(out_, fmt::format("\r{}{:{}}", line, "", drawn_ > width ? drawn_ - width : 0));
    drawn_ = width;
  }
}

}  // namespace tributary::inline telemetry
