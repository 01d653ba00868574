#include "tributary/telemetry/live_view.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "tributary/base/units.h"

namespace tributary::inline telemetry {
namespace {

constexpr std::uint64_t kMostLines = 200;

std::string RoundOf(std::uint64_t round, std::uint64_t rounds) {
  return rounds == 0 ? fmt::format("round {}", round) : fmt::format("round {}/{}", round, rounds);
}

std::string Percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string AccuracyOf(const Evaluated& evaluated) {
  return fmt::format("accuracy {}{}", Percent(evaluated.accuracy),
                     evaluated.where == EvaluatedWhere::kDevices ? " on devices" : "");
}

}  // namespace

std::string FormatRunStarted(const RunStarted& run) {
  std::string line =
      fmt::format("{}: {} of {} on {}, {} {}, {} parameters, seed {}", run.experiment, run.method, run.model,
                  run.data, run.devices, run.devices == 1 ? "device" : "devices",
                  FormatCount(static_cast<double>(run.parameters)), run.seed);
  if (!run.compute_as.empty()) line += fmt::format(", time and bytes charged as {}", run.compute_as);
  return Printable(std::move(line));
}

std::string FormatRound(const RoundSummary& round) {
  const RoundFinished& finished = round.finished;
  std::string line = fmt::format("{}  after {}  {}/{} applied", RoundOf(finished.round.value, round.rounds),
                                 FormatDuration(round.time), finished.applied, round.participants);
  const OutcomeCounts counts = finished.outcomes();
  for (std::size_t i = 1; i < counts.size(); ++i) {
    if (counts[i] > 0) line += fmt::format(", {} {}", counts[i], kOutcomeNames[i]);
  }
  if (finished.train_loss) line += fmt::format("  loss {:.4g}", *finished.train_loss);
  for (const auto& evaluated : {round.central, round.devices}) {
    if (evaluated) line += "  " + AccuracyOf(*evaluated);
  }
  if (finished.overlap.value_or(0) > 0) line += fmt::format("  overlap {:.0f} %", 100 * *finished.overlap);
  if (finished.slowest) line += fmt::format("  slowest device {}", finished.slowest->value);
  return line;
}

std::string FormatEvaluated(const Evaluated& evaluated, std::uint64_t rounds, TimePoint time) {
  return fmt::format("{}  after {}  {}", RoundOf(evaluated.round.value, rounds), FormatDuration(time),
                     AccuracyOf(evaluated));
}

std::string FormatRunFinished(const RunFinished& run, TimePoint time) {
  constexpr std::array<std::string_view, kRunEndNames.size()> kEnded = {
      "finished", "the time budget is spent", "reached the target", "interrupted"};
  std::string line = fmt::format("{} after {} {} and {}", kEnded[static_cast<std::size_t>(run.reason)],
                                 run.rounds, run.rounds == 1 ? "round" : "rounds", FormatDuration(time));
  if (run.accuracy) line += ", accuracy " + Percent(*run.accuracy);
  return line;
}

std::string FormatDevice(const DeviceFinished& device) {
  std::string line =
      fmt::format("round {}: device {} {}", device.round.value, device.device.value, NameOf(device.outcome));
  if (!device.reason.empty()) line += ": " + device.reason;
  return Printable(std::move(line));
}

std::string FormatLive(const LiveState& state) {
  std::string line = fmt::format("{}  {}", RoundOf(state.round, state.rounds), FormatDuration(state.time));
  if (state.back < state.participants) line += fmt::format("  {}/{} back", state.back, state.participants);
  if (state.accuracy) line += "  accuracy " + Percent(*state.accuracy);
  if (state.slowest) line += fmt::format("  slowest device {}", state.slowest->value);
  return line;
}

bool IsShown(std::uint64_t round, std::uint64_t rounds) {
  if (round <= 1 || round == rounds) return true;
  std::uint64_t step = 1;
  if (rounds == 0) {
    while (round / step > kMostLines) step *= 10;
  } else {
    // 1, 2, 5, 10, 20, …
    for (std::uint64_t i = 0; rounds / step > kMostLines; ++i) step = i % 3 == 1 ? step / 2 * 5 : step * 2;
  }
  return round % step == 0;
}

LiveView::LiveView(const Clock& clock, std::FILE* out, Options options)
    : clock_(clock), out_(out), options_(options) {}

LiveView::~LiveView() { PrintRound(); }

void LiveView::Write(const Event& event) {
  if (options_.style == ProgressStyle::kQuiet) return;
  state_.time = event.time;
  std::visit([&](const auto& what) { On(event.time, what); }, event.what);
  Redraw();
}

void LiveView::On(TimePoint, const RunStarted& run) {
  state_.rounds = run.rounds;
  PrintLine(FormatRunStarted(run));
  // No bar and no rate: the text needs the width of the terminal.
  if (terminal()) {
    progress_.emplace(clock_, out_,
                      Progress::Options{ProgressStyle::kTerminal, run.rounds, "", options_.columns, false});
  }
}

void LiveView::On(TimePoint, const RoundStarted& round) {
  PrintRound();
  state_.round = round.round.value;
  state_.participants = round.participants;
  state_.back = 0;
}

void LiveView::On(TimePoint, const DeviceFinished& device) {
  ++state_.back;
  const bool news = device.outcome == Outcome::kRefused && refused_.insert(device.device).second;
  if (news) PrintLine(FormatDevice(device));
}

void LiveView::On(TimePoint time, const RoundFinished& round) {
  PrintRound();
  finished_rounds_ = round.round.value;
  state_.back = state_.participants;
  if (round.slowest) state_.slowest = round.slowest;
  if (!terminal()) waiting_ = {time, state_.rounds, state_.participants, round};
}

void LiveView::On(TimePoint time, const Evaluated& evaluated) {
  const bool central = evaluated.where == EvaluatedWhere::kCentral;
  // If both are measured, shows the central one, which does not depend on the participants.
  central_seen_ = central_seen_ || central;
  if (central || !central_seen_) state_.accuracy = evaluated.accuracy;
  if (terminal()) return;
  if (waiting_ && waiting_->finished.round == evaluated.round) {
    (central ? waiting_->central : waiting_->devices) = evaluated;
  } else {
    PrintLine(FormatEvaluated(evaluated, state_.rounds, time));
  }
}

void LiveView::On(TimePoint time, const RunFinished& run) {
  PrintRound();
  if (progress_) progress_->Finish(finished_rounds_, FormatLive(state_));
  progress_.reset();
  PrintLine(FormatRunFinished(run, time));
}

void LiveView::On(TimePoint, const Note& note) { PrintLine(Printable(note.text)); }

void LiveView::PrintLine(std::string_view line) {
  PrintRound();
  if (progress_) progress_->Clear();
  Print(out_, std::string(line) + "\n");
}

void LiveView::PrintRound() {
  if (!waiting_) return;
  const RoundSummary round = *std::exchange(waiting_, std::nullopt);
  const bool evaluated = round.central || round.devices;
  if (evaluated || IsShown(round.finished.round.value, round.rounds)) Print(out_, FormatRound(round) + "\n");
}

void LiveView::Redraw() {
  if (progress_) progress_->Update(finished_rounds_, FormatLive(state_));
}

}  // namespace tributary::inline telemetry
