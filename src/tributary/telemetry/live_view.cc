#include "tributary/telemetry/live_view.h"

#include <string>
#include <utility>

#include "tributary/telemetry/printing.h"

namespace tributary::inline telemetry {

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
  // Without a bar or a rate: there is more to say than a terminal is wide.
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
  // Where both are measured, the line shows the one that does not change with who takes part.
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
