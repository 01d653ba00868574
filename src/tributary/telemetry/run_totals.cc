#include "tributary/telemetry/run_totals.h"

#include <algorithm>
#include <utility>

#include "tributary/base/saturating.h"

namespace tributary::inline telemetry {
namespace {

constexpr std::size_t kLongestReason = 1000;

template <typename Number>
void AddTo(Number& sum, Number more) {
  sum = SaturatingAdd(sum, more);
}

// Values of summed figures have SaturatingAdd.
template <typename Value>
void AddFigure(const DeviceFigure& figure, Value& total, const Value& more) {
  if constexpr (requires { SaturatingAdd(total, more); }) {
    total = figure.adds == Adds::kSum ? SaturatingAdd(total, more) : more;
  } else if constexpr (requires { more.has_value(); }) {
    if (more) total = more;
  } else {
    total = more;
  }
}

// Clamped, since events may come from an untrusted log.
std::optional<double> WaitingShare(Duration waited, Duration present) {
  if (present <= Duration(0)) return std::nullopt;
  return std::clamp(ToSeconds(waited) / ToSeconds(present), 0.0, 1.0);
}

}  // namespace

void DeviceTotals::Add(const DeviceFinished& finished) {
  std::string before = std::move(reason);
  VisitDeviceFigures(
      [&](const DeviceFigure& figure, auto member) { AddFigure(figure, this->*member, finished.*member); });
  const bool is_applied = finished.outcome == Outcome::kApplied;
  ++(is_applied ? applied : missed);
  reason = is_applied ? std::move(before) : finished.reason.substr(0, kLongestReason);
  if (finished.stream_rate) level = finished.buffered;
  if (finished.trained_share) {
    kept_sum += *finished.trained_share;
    ++chose;
  }
}

void DeviceTotals::Add(const DeviceTotals& other) {
  VisitDeviceFigures(
      [&](const DeviceFigure& figure, auto member) { AddFigure(figure, this->*member, other.*member); });
  applied += other.applied;
  missed += other.missed;
  kept_sum += other.kept_sum;
  chose += other.chose;
}

void RoundTally::Add(const DeviceFinished& device) {
  ++sums_.participants;
  AddTo(sums_.waited, device.wait);
  if (device.outcome == Outcome::kApplied) AddTo(sums_.samples, device.samples);
  if (device.trained_share) {
    kept_ += *device.trained_share;
    ++chose_;
  }
}

RoundShares RoundTally::Finish(const RoundFinished& round) {
  RoundShares result = std::exchange(sums_, {});
  result.present =
      Duration(SaturatingMultiply(round.duration.count(), static_cast<Duration::rep>(result.participants)));
  result.waiting = WaitingShare(result.waited, result.present);
  if (chose_ > 0) result.kept = kept_ / static_cast<double>(chose_);
  kept_ = 0;
  chose_ = 0;
  return result;
}

std::optional<double> RunSums::waiting_share() const { return WaitingShare(waited, present); }

void RunTotals::Write(const Event& event) {
  std::visit([this](const auto& what) { On(what); }, event.what);
  sums.time = std::max(sums.time, event.time);
}

void RunTotals::On(const RunStarted& started) {
  *this = RunTotals(most_devices);
  run = started;
  sums.time = TimePoint::min();
}

void RunTotals::On(const RoundStarted&) { tally_ = {}; }

void RunTotals::On(const DeviceFinished& device) {
  tally_.Add(device);
  AddTo(relayed, device.relayed);
  const std::uint64_t number = device.device.value;
  if (number >= most_devices) return others.Add(device);
  for (std::uint64_t i = devices.size(); i <= number; ++i) devices.emplace_back().device = {i};
  devices[number].Add(device);
}

void RunTotals::On(const RoundFinished& round) {
  shares = tally_.Finish(round);
  last = round;
  ++finished_rounds;
  const OutcomeCounts counts = round.outcomes();
  for (std::size_t i = 0; i < counts.size(); ++i) AddTo(outcomes[i], counts[i]);
  sums.rounds = std::max(sums.rounds, round.round.value);
  AddTo(sums.down, round.bytes_down);
  AddTo(sums.up, round.bytes_up);
  AddTo(sums.injected, round.bytes_injected);
  AddTo(sums.waited, shares.waited);
  AddTo(sums.present, shares.present);
}

void RunTotals::On(const Evaluated& evaluation) {
  const bool central = evaluation.where == EvaluatedWhere::kCentral;
  std::optional<Evaluated>& test_set = evaluated[static_cast<std::size_t>(EvaluatedWhere::kCentral)];
  const bool known = test_set.has_value();
  evaluated[static_cast<std::size_t>(evaluation.where)] = evaluation;
  if (known && !central) return;
  if (central && !known) sums.best_accuracy.reset();
  sums.accuracy = evaluation.accuracy;
  sums.loss = evaluation.loss;
  sums.best_accuracy = std::max(sums.best_accuracy.value_or(evaluation.accuracy), evaluation.accuracy);
}

void RunTotals::On(const Quarantined& device) {
  constexpr std::size_t kMostQuarantined = 100'000;  // A log is not trusted.
  if (quarantined.size() < kMostQuarantined) quarantined.push_back(device.device);
}

void RunTotals::On(const RunFinished& end) {
  finished = end;
  if (end.accuracy) sums.accuracy = end.accuracy;
}

}  // namespace tributary::inline telemetry
