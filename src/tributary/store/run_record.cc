#include "tributary/store/run_record.h"

namespace tributary::inline store {
namespace {

std::string Bounded(const std::string& text) { return text.substr(0, RunFollower::kLongestText); }

}  // namespace

void RunFollower::Write(const Event& event) {
  totals_.Write(event);
  static_cast<RunSums&>(run_) = totals_.sums;
  std::visit([&](const auto& what) { On(event.time, what); }, event.what);
}

DeviceRecord RunFollower::device(std::size_t number) const {
  return {totals_.devices[number], number < groups_.size() ? Bounded(groups_[number]) : ""};
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
  for (std::size_t i = 0; i < device_count() && i < groups_.size(); ++i) changes_.devices.insert(i);
}

void RunFollower::On(TimePoint, const RunStarted& run) {
  run_.what = run;
  for (std::string* const text :
       {&run_.what.experiment, &run_.what.method, &run_.what.model, &run_.what.compute_as, &run_.what.data}) {
    *text = Bounded(*text);
  }
  run_.state = RunState::kRunning;
  run_.ended_by.clear();
  run_.finished.reset();
  run_.missed_events = 0;
  ClearChanges();
  changes_.restarted = true;
  round_.clear();
  notes_ = 0;
}

void RunFollower::On(TimePoint, const RoundStarted&) { round_.clear(); }

void RunFollower::On(TimePoint, const DeviceFinished& finished) {
  if (finished.device.value >= kMostDevices) return;
  if (round_.size() < kMostDevices) round_.push_back(finished);
  changes_.devices.insert(finished.device.value);
}

void RunFollower::On(TimePoint time, const RoundFinished& round) {
  changes_.rounds.push_back({totals_.shares, time, round});
  detailed_ += round_.size();
  for (DeviceFinished& device : round_) device.reason.clear();  // DeviceRecord has the last one
  changes_.details.push_back({round.round, std::move(round_)});
  round_.clear();
  while (changes_.details.size() > 1 && detailed_ > kMostDeviceRounds) {
    detailed_ -= changes_.details.front().devices.size();
    changes_.details.pop_front();
  }
}

void RunFollower::On(TimePoint time, const Evaluated& evaluated) {
  changes_.evaluations.push_back({time, evaluated, run_.down, run_.up});
}

void RunFollower::On(TimePoint, const RunFinished& run) {
  run_.state = run.reason == RunEnd::kInterrupted ? RunState::kInterrupted : RunState::kFinished;
  run_.ended_by = NameOf(run.reason);
}

void RunFollower::On(TimePoint time, const Note& note) {
  if (notes_++ < kMostNotes) changes_.notes.push_back({time, Bounded(note.text)});
}

}  // namespace tributary::inline store
