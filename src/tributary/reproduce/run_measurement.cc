#include "tributary/reproduce/run_measurement.h"

#include <algorithm>
#include <optional>
#include <span>

namespace tributary::inline reproduce {
namespace {

// Notes what a run's events come to, and passes them on.
class RunNotes : public EventSink {
 public:
  RunNotes(EventSink* next, const Target& target) : next_(next), target_(target) {}

  void Write(const Event& event) override {
    if (const auto* evaluated = std::get_if<Evaluated>(&event.what)) {
      accuracies_.push_back(evaluated->accuracy);
      losses_.push_back(evaluated->loss);
      times_.push_back(ToSeconds(event.time));
      if (!reached_ && times_.size() >= target_.evaluations && There()) reached_ = times_.back();
    } else if (const auto* device = std::get_if<DeviceFinished>(&event.what)) {
      if (device->outcome == Outcome::kApplied) {
        ++updates_;
        compressed_ += 2 * device->up.value < device->down.value;
        bytes_up_ += device->up;
      }
    } else if (const auto* round = std::get_if<RoundFinished>(&event.what)) {
      ++rounds_;
      buffered_ = std::max(buffered_, round->buffered);
      injected_ += round->bytes_injected;
    }
    if (next_ != nullptr) next_->Write(event);
  }

  void AddTo(Measurement& measurement) const {
    std::map<std::string, double>& numbers = measurement.numbers;
    const auto per = [](auto amount, std::uint64_t count) {
      return static_cast<double>(amount) / static_cast<double>(std::max<std::uint64_t>(1, count));
    };
    numbers["compressed steps"] = per(compressed_, updates_);
    numbers["megabytes per update"] = per(bytes_up_.value, updates_) / 1e6;
    numbers["buffered samples"] = static_cast<double>(buffered_);
    numbers["kilobytes injected"] = per(injected_.value, rounds_) / 1e3;
    if (!times_.empty()) {
      numbers["final accuracy"] = MeanOfLast(accuracies_, (times_.size() + 4) / 5);
      numbers["final loss"] = MeanOfLast(losses_, (times_.size() + 4) / 5);
    }
    if (reached_) numbers["time to target"] = *reached_;
    for (std::size_t i = 0; i < times_.size(); ++i) {
      measurement.curve.push_back({times_[i], target_.loss ? losses_[i] : accuracies_[i]});
    }
  }

 private:
  // Of so many evaluations, of which there are as many.
  static double MeanOfLast(std::span<const double> values, std::size_t count) {
    double sum = 0;
    for (const double value : values.last(count)) sum += value;
    return sum / static_cast<double>(count);
  }
  bool There() const {
    if (target_.loss) return MeanOfLast(losses_, target_.evaluations) <= *target_.loss;
    return MeanOfLast(accuracies_, target_.evaluations) >= target_.accuracy;
  }

  EventSink* const next_;
  const Target target_;
  std::vector<double> times_, accuracies_, losses_;  // of the evaluations
  std::optional<double> reached_;
  std::uint64_t rounds_ = 0, updates_ = 0, compressed_ = 0, buffered_ = 0;
  Bytes bytes_up_{0}, injected_{0};
};

double WaitingShare(const std::vector<DeviceTotals>& devices) {
  double waiting = 0;
  double all = 0;
  for (const DeviceTotals& device : devices) {
    waiting += ToSeconds(device.wait);
    all += ToSeconds(device.compute + device.transfer() - device.hidden + device.wait);
  }
  return all > 0 ? waiting / all : 0;
}

}  // namespace

StatusOr<Measurement> MeasureRun(const Experiment& experiment, const Target& target,
                                 SimulationOptions options) {
  RunNotes notes(options.watcher, target);
  options.watcher = &notes;
  const auto run = Simulate(experiment, options);
  Measurement measurement;
  if (!run.ok() && run.status().code() == StatusCode::kUnavailable) {
    notes.AddTo(measurement);
    return measurement;
  }
  if (!run.ok()) return run.status();
  const FinishedRun& result = *run;
  if (result.run.reason == RunEnd::kInterrupted) return Cancelled("the run was interrupted");
  const double seconds = ToSeconds(result.time);
  if (result.run.accuracy) measurement.numbers["accuracy"] = *result.run.accuracy;
  measurement.numbers["virtual seconds"] = seconds;
  measurement.numbers["seconds per round"] =
      seconds / static_cast<double>(std::max<std::uint64_t>(1, result.run.rounds));
  measurement.numbers["waiting share"] = WaitingShare(result.devices);
  measurement.numbers["megabytes up"] = static_cast<double>(result.up.value) / 1e6;
  measurement.numbers["megabytes"] = static_cast<double>(result.down.value + result.up.value) / 1e6;
  notes.AddTo(measurement);
  return measurement;
}

}  // namespace tributary::inline reproduce
