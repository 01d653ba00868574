#include "tributary/store/run_follower.h"

#include <algorithm>

#include "tributary/base/saturating.h"

namespace tributary {
namespace {

std::string Bounded(const std::string& text) { return text.substr(0, RunFollower::kLongestText); }

const char* EndName(RunEnd reason) {
  switch (reason) {
    case RunEnd::kRounds:
      return "rounds";
    case RunEnd::kTime:
      return "time";
    case RunEnd::kTarget:
      return "target";
    case RunEnd::kInterrupted:
      return "interrupted";
  }
  return "";
}

}  // namespace

void RunFollower::Write(const Event& event) {
  run_.time = std::max(run_.time, event.time);
  std::visit([&](const auto& what) { On(event.time, what); }, event.what);
}

void RunFollower::ClearChanges() {
  changes_ = {};
  detailed_ = 0;
}

void RunFollower::ClearChangesButDevices() {
  std::set<std::size_t> devices = std::move(changes_.devices);
  ClearChanges();
  changes_.devices = std::move(devices);
}

void RunFollower::set_groups(std::vector<std::string> groups) {
  groups_ = std::move(groups);
  for (std::size_t i = 0; i < devices_.size() && i < groups_.size(); ++i) {
    devices_[i].group = Bounded(groups_[i]);
    changes_.devices.insert(i);
  }
}

void RunFollower::On(TimePoint time, const RunStarted& run) {
  run_ = {.id = run_.id,
          .name = run_.name,
          .folder = run_.folder,
          .what = run,
          .simulated = run_.simulated,
          .started = run_.started,
          .time = time};
  for (std::string* const text :
       {&run_.what.experiment, &run_.what.method, &run_.what.model, &run_.what.compute_as, &run_.what.data}) {
    *text = Bounded(*text);
  }
  started_ = true;
  devices_.clear();
  ClearChanges();
  changes_.restarted = true;
  tally_ = {};
  round_.clear();
  notes_ = 0;
  central_ = false;
}

void RunFollower::On(TimePoint, const RoundStarted&) {
  // What was left of a round that never ended, as in the log of a coordinator that was killed.
  tally_ = {};
  round_.clear();
}

void RunFollower::On(TimePoint, const DeviceFinished& finished) {
  tally_.Add(finished);
  const std::uint64_t number = finished.device.value;
  if (number >= kMostDevices) return;
  if (round_.size() < kMostDevices) round_.push_back(finished);
  for (std::size_t i = devices_.size(); i <= number; ++i) {
    devices_.push_back({.device = {i}, .group = i < groups_.size() ? Bounded(groups_[i]) : ""});
  }
  DeviceRecord& device = devices_[number];
  changes_.devices.insert(number);
  device.last_round = finished.round;
  device.last_outcome = finished.outcome;
  ++(finished.outcome == Outcome::kApplied ? device.applied : device.missed);
  if (finished.outcome != Outcome::kApplied) device.reason = Bounded(finished.reason);
  device.compute = SaturatingAdd(device.compute, finished.compute);
  device.transfer = SaturatingAdd(device.transfer, SaturatingAdd(finished.pull, finished.push));
  device.hidden = SaturatingAdd(device.hidden, finished.hidden);
  device.waiting = SaturatingAdd(device.waiting, finished.wait);
  device.down = SaturatingAdd(device.down, finished.bytes_down);
  device.up = SaturatingAdd(device.up, finished.bytes_up);
  if (finished.kept) device.kept = finished.kept;
  if (finished.stream_rate) device.stream_rate = finished.stream_rate;
  device.buffered = finished.buffered;
  device.dropped = finished.dropped;
}

void RunFollower::On(TimePoint time, const RoundFinished& round) {
  const RoundShares shares = tally_.Finish(round);
  changes_.rounds.push_back({.end = time,
                             .finished = round,
                             .participants = shares.participants,
                             .samples = shares.samples,
                             .waiting = shares.waiting,
                             .kept = shares.kept});
  run_.rounds = std::max(run_.rounds, round.round.value);
  run_.down = SaturatingAdd(run_.down, round.bytes_down);
  run_.up = SaturatingAdd(run_.up, round.bytes_up);
  run_.injected = SaturatingAdd(run_.injected, round.bytes_injected);
  run_.waited = SaturatingAdd(run_.waited, shares.waited);
  run_.present = SaturatingAdd(run_.present, shares.present);

  detailed_ += round_.size();
  for (DeviceFinished& device : round_) device.reason.clear();  // The last one is with the device.
  changes_.details.push_back({round.round, std::move(round_)});
  round_.clear();
  while (changes_.details.size() > 1 && detailed_ > kMostDeviceRounds) {
    detailed_ -= changes_.details.front().devices.size();
    changes_.details.pop_front();
  }
}

void RunFollower::On(TimePoint time, const Evaluated& evaluated) {
  changes_.evaluations.push_back({time, evaluated, run_.down, run_.up});
  const bool central = evaluated.where == EvaluatedWhere::kCentral;
  if (central_ && !central) return;
  if (central && !central_) run_.best_accuracy.reset();
  central_ = central;
  run_.accuracy = evaluated.accuracy;
  run_.loss = evaluated.loss;
  run_.best_accuracy = std::max(run_.best_accuracy.value_or(evaluated.accuracy), evaluated.accuracy);
}

void RunFollower::On(TimePoint, const RunFinished& run) {
  run_.state = run.reason == RunEnd::kInterrupted ? RunState::kInterrupted : RunState::kFinished;
  run_.ended_by = EndName(run.reason);
  if (run.accuracy) run_.accuracy = run.accuracy;
}

void RunFollower::On(TimePoint time, const Note& note) {
  if (notes_++ < kMostNotes) changes_.notes.push_back({time, Bounded(note.text)});
}

}  // namespace tributary
