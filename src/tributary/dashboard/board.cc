#include "tributary/dashboard/board.h"

#include <cmath>

#include "tributary/base/saturating.h"

namespace tributary::inline dashboard {
namespace {

constexpr std::size_t kMostLetters = 500;  // of a note or a reason

std::string Shortened(const std::string& text) {
  if (text.size() <= kMostLetters) return text;
  return text.substr(0, kMostLetters) + "…";
}

// Saturates, since events may come from an untrusted log.
void AddTo(Bytes& sum, Bytes more) { sum = SaturatingAdd(sum, more); }

}  // namespace

void Board::Describe(const RunMetadata& described) {
  metadata = described;
  devices.resize(std::max(devices.size(), std::min(metadata.devices.size(), kMostShown)));
  shares_.clear();
  double all = 0;
  for (const RunMetadata::Device& device : metadata.devices) {
    if (device.class_counts.size() > shares_.size()) shares_.resize(device.class_counts.size());
    for (std::size_t c = 0; c < device.class_counts.size(); ++c) {
      shares_[c] += static_cast<double>(device.class_counts[c]);
      all += static_cast<double>(device.class_counts[c]);
    }
  }
  for (double& share : shares_) share = all > 0 ? share / all : 0;
}

void Board::Write(const Event& event) {
  has_test_set_ = totals.evaluated[static_cast<std::size_t>(EvaluatedWhere::kCentral)].has_value();
  totals.Write(event);
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
  devices.resize(std::max<std::size_t>(devices.size(), std::min<std::uint64_t>(started.devices, kMostShown)));
}

void Board::On(const RoundStarted& started) {
  round = started.round.value;
  participants = started.participants;
  back = 0;
  running_ = {};
  running_.classes.assign(shares_.size(), 0);
  // Participants are not known: if all devices take part, those that have not finished are busy.
  SetAll(started.participants >= devices.size() ? "busy" : "waiting");
}

void Board::On(const DeviceFinished& device) {
  ++back;
  if (device.outcome == Outcome::kApplied) {
    ++running_.applied;
    AddTo(running_.up, device.up);
    AddClasses(device);
  }
  const std::size_t i = device.device.value;
  if (i >= kMostShown) return;
  if (i >= devices.size()) devices.resize(i + 1);
  Device& row = devices[i];
  row.last = device;
  row.last->reason = Shortened(device.reason);
  if (!states_are_told) {
    row.state = device.outcome == Outcome::kLost || device.outcome == Outcome::kCrashed ? "gone" : "done";
  }
}

void Board::AddClasses(const DeviceFinished& device) {
  const std::size_t i = device.device.value;
  if (i >= metadata.devices.size()) return;
  const std::vector<std::int64_t>& counts = metadata.devices[i].class_counts;
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
  const Bytes dense{
      SaturatingMultiply(metadata.dense_update.value, static_cast<std::int64_t>(running_.applied))};
  AddTo(dense_up, dense);

  const RunSums& sums = totals.sums;
  rounds.Add(
      {ended, totals.shares, sums.time, SaturatingAdd(sums.down, sums.up), running_.up, dense, Deviation()});
  if (!states_are_told) {
    for (Device& device : devices) {
      if (device.state == "busy" || device.state == "done") device.state = "waiting";
    }
  }
}

void Board::On(const Evaluated& evaluated) {
  // Hold-out evaluations are shown only if the coordinator evaluates nothing.
  if (evaluated.where == EvaluatedWhere::kDevices && has_test_set_) return;
  if (evaluated.where == EvaluatedWhere::kCentral && !has_test_set_ && evaluations.seen() > 0) {
    evaluations = Downsampled<Evaluation>(kMostPoints);
    ++replaced;
  }
  const RunSums& sums = totals.sums;
  evaluations.Add({evaluated.round.value, sums.time, SaturatingAdd(sums.down, sums.up), evaluated.accuracy,
                   evaluated.loss});
}

void Board::On(const RunFinished&) { SetAll("waiting"); }

void Board::On(const Note& note) {
  notes.push_back({totals.sums.time, Shortened(note.text)});
  if (notes.size() > kMostNotes) notes.pop_front();
}

}  // namespace tributary::inline dashboard
