#include "tributary/dashboard/board.h"

#include <algorithm>
#include <cmath>

#include "tributary/base/saturating.h"

namespace tributary {
namespace {

constexpr std::size_t kMostLetters = 500;  // of a note or a reason

std::string Shortened(const std::string& text) {
  if (text.size() <= kMostLetters) return text;
  return text.substr(0, kMostLetters) + "…";
}

// Events may come from a log that anybody could have written.
void AddTo(Bytes& sum, Bytes more) { sum = SaturatingAdd(sum, more); }

}  // namespace

void Board::Describe(RunFacts described) {
  facts = std::move(described);
  devices.resize(std::max(devices.size(), std::min(facts.devices.size(), kMostShown)));
  shares_.clear();
  double all = 0;
  for (const RunFacts::Device& device : facts.devices) {
    if (device.class_counts.size() > shares_.size()) shares_.resize(device.class_counts.size());
    for (std::size_t c = 0; c < device.class_counts.size(); ++c) {
      shares_[c] += static_cast<double>(device.class_counts[c]);
      all += static_cast<double>(device.class_counts[c]);
    }
  }
  for (double& share : shares_) share = all > 0 ? share / all : 0;
}

void Board::Write(const Event& event) {
  time = std::max(time, event.time);
  std::visit([this](const auto& what) { On(what); }, event.what);
}

void Board::SetState(std::size_t device, std::string_view state) {
  if (device >= kMostShown) return;
  if (device >= devices.size()) devices.resize(device + 1);
  devices[device].state = state;
  states_are_told = true;
}

void Board::SetAll(std::string_view state) {
  if (states_are_told) return;
  for (Device& device : devices) {
    if (device.state != "gone" || state == "busy") device.state = state;
  }
}

void Board::On(const RunStarted& started) {
  run = started;
  devices.resize(std::max<std::size_t>(devices.size(), std::min<std::uint64_t>(started.devices, kMostShown)));
}

void Board::On(const RoundStarted& started) {
  round = started.round.value;
  participants = started.participants;
  back = 0;
  running_ = {};
  running_.classes.assign(shares_.size(), 0);
  // Nobody says who takes part: who has not come back is taken to be busy where everybody does.
  SetAll(started.participants >= devices.size() ? "busy" : "waiting");
}

void Board::On(const DeviceFinished& device) {
  ++back;
  running_.tally.Add(device);
  AddTo(relayed, device.bytes_relayed);
  if (device.outcome == Outcome::kApplied) {
    ++running_.applied;
    AddTo(running_.up, device.bytes_up);
    AddClasses(device);
  }
  const std::size_t i = device.device.value;
  if (i >= kMostShown) return;
  if (i >= devices.size()) devices.resize(i + 1);
  Device& row = devices[i];
  row.last = device;
  row.last->reason = Shortened(device.reason);
  ++(device.outcome == Outcome::kApplied ? row.applied : row.missed);
  AddTo(row.down, device.bytes_down);
  AddTo(row.up, device.bytes_up);
  if (!states_are_told) {
    row.state = device.outcome == Outcome::kLost || device.outcome == Outcome::kCrashed ? "gone" : "done";
  }
}

void Board::AddClasses(const DeviceFinished& device) {
  const std::size_t i = device.device.value;
  if (i >= facts.devices.size()) return;
  const std::vector<std::int64_t>& counts = facts.devices[i].class_counts;
  double all = 0;
  for (const std::int64_t count : counts) all += static_cast<double>(count);
  if (all <= 0 || counts.size() > running_.classes.size()) return;
  const auto samples = static_cast<double>(device.samples);
  for (std::size_t c = 0; c < counts.size(); ++c) {
    running_.classes[c] += samples * static_cast<double>(counts[c]) / all;
  }
  running_.samples += samples;
}

std::optional<double> Board::Deviation() const {
  if (running_.samples <= 0) return std::nullopt;
  double sum = 0;
  for (std::size_t c = 0; c < shares_.size(); ++c)
    sum += std::abs(running_.classes[c] / running_.samples - shares_[c]);
  return sum / 2;
}

void Board::On(const RoundFinished& ended) {
  AddTo(down, ended.bytes_down);
  AddTo(up, ended.bytes_up);
  AddTo(injected, ended.bytes_injected);
  applied += ended.applied;
  late += ended.late;
  lost += ended.lost;
  refused += ended.refused;
  crashed += ended.crashed;
  const RoundShares shares = running_.tally.Finish(ended);
  waited = SaturatingAdd(waited, shares.waited);
  present = SaturatingAdd(present, shares.present);
  const Bytes dense{
      SaturatingMultiply(facts.dense_update.value, static_cast<std::int64_t>(running_.applied))};
  AddTo(dense_up, dense);

  Round point;
  point.round = ended.round.value;
  point.applied = ended.applied;
  point.participants = shares.participants;
  point.buffered = ended.buffered;
  point.time = time;
  point.duration = ended.duration;
  point.bytes = SaturatingAdd(down, up);
  point.up = running_.up;
  point.dense_up = dense;
  point.train_loss = ended.train_loss;
  point.waiting_share = shares.waiting;
  point.overlap = ended.overlap;
  point.kept = shares.kept;
  point.deviation = Deviation();
  rounds.Add(point);
  if (!states_are_told) {
    for (Device& device : devices) {
      if (device.state == "busy" || device.state == "done") device.state = "waiting";
    }
  }
}

void Board::On(const Evaluated& evaluated) {
  // What devices measure on samples that they hold out is shown only where the coordinator measures nothing.
  if (evaluated.where == EvaluatedWhere::kDevices && central_) return;
  if (evaluated.where == EvaluatedWhere::kCentral && !central_) {
    central_ = true;
    if (evaluations.seen() > 0) {
      evaluations = Thinned<Evaluation>(kMostPoints);
      ++replaced;
    }
  }
  accuracy = evaluated.accuracy;
  loss = evaluated.loss;
  evaluations.Add({evaluated.round.value, time, SaturatingAdd(down, up), evaluated.accuracy, evaluated.loss});
}

void Board::On(const RunFinished& ended) {
  finished = ended;
  if (ended.accuracy) accuracy = ended.accuracy;
  SetAll("waiting");
}

void Board::On(const Note& note) {
  notes.push_back({time, Shortened(note.text)});
  if (notes.size() > kMostNotes) notes.pop_front();
}

}  // namespace tributary
