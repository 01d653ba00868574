#include "tributary/telemetry/live_text.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "tributary/base/units.h"
#include "tributary/telemetry/printing.h"

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
  const std::array<std::pair<std::uint64_t, Outcome>, 4> others = {{{finished.late, Outcome::kLate},
                                                                    {finished.lost, Outcome::kLost},
                                                                    {finished.refused, Outcome::kRefused},
                                                                    {finished.crashed, Outcome::kCrashed}}};
  for (const auto& [count, outcome] : others) {
    if (count > 0) line += fmt::format(", {} {}", count, NameOf(outcome));
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
  const auto after =
      fmt::format("{} {} and {}", run.rounds, run.rounds == 1 ? "round" : "rounds", FormatDuration(time));
  std::string line;
  switch (run.reason) {
    case RunEnd::kRounds:
      line = "finished after " + after;
      break;
    case RunEnd::kTime:
      line = "the time budget is spent after " + after;
      break;
    case RunEnd::kTarget:
      line = "reached the target after " + after;
      break;
    case RunEnd::kInterrupted:
      line = "interrupted after " + after;
      break;
  }
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
    // 1, 2, 5, 10, 20, …: the rounds shown have round numbers.
    for (std::uint64_t i = 0; rounds / step > kMostLines; ++i) step = i % 3 == 1 ? step / 2 * 5 : step * 2;
  }
  return round % step == 0;
}

}  // namespace tributary::inline telemetry
