#include "tributary/reproduce/run_measurement.h"

#include <algorithm>
#include <span>

#include "tributary/device/setting.h"
#include "tributary/experiment/fleet_builder.h"
#include "tributary/policy/sampling/sampling_plan.h"

namespace tributary::inline reproduce {
namespace {

// Accumulates metrics from a run's events, and forwards the events.
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
        limited_ += device->clipped > 0 || device->capped > 0;
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
    numbers["limited updates"] = per(limited_, updates_);
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
  // `values` must have at least `count` elements.
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
  std::vector<double> times_, accuracies_, losses_;  // per evaluation
  std::optional<double> reached_;
  std::uint64_t rounds_ = 0, updates_ = 0, compressed_ = 0, limited_ = 0, buffered_ = 0;
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

namespace {

constexpr std::size_t kLastEpochs = 3;
constexpr double kLargestDeviation = 2;  // the maximum possible

// What the coordinator knows when it plans, always including labels and delays.
StatusOr<SamplingProblem> ProblemOf(Experiment& experiment, const std::filesystem::path& data_dir) {
  TRIBUTARY_ASSIGN_OR_RETURN(const TrainTest data, LoadExperimentData(experiment, data_dir));
  const Shape& shape = data.train.shape();
  const int classes = data.train.classes();
  TRIBUTARY_RETURN_IF_ERROR(ResolveSplitPoint(experiment, shape, classes));
  TRIBUTARY_ASSIGN_OR_RETURN(const auto model,
                             BuildNetwork(experiment.model.name, experiment, shape, classes));
  TRIBUTARY_ASSIGN_OR_RETURN(const auto profiles, BuildFleet(experiment));
  TRIBUTARY_ASSIGN_OR_RETURN(const std::vector<LocalData> devices, DealOut(experiment, data.train));
  SamplingProblem problem;
  for (const LocalData& device : devices) {
    problem.sizes.push_back(static_cast<std::int64_t>(device.training.size()));
    auto& counts = problem.label_counts.emplace_back(static_cast<std::size_t>(classes), 0);
    for (const std::uint32_t sample : device.training)
      ++counts[static_cast<std::size_t>(data.train.labels()[sample])];
  }
  problem.delays = StepDelays(experiment, SplitNetworkAt(experiment, model), profiles);
  TRIBUTARY_RETURN_IF_ERROR(CheckSamplingProblem(problem));
  return problem;
}

struct Planned {
  double seconds = 0, deviation = 0;  // means over epochs
  Duration took{0};                   // to plan one epoch
};

Planned PlanEpochs(const SamplingProblem& problem, const SamplingOptions& options, std::int64_t epochs,
                   const Clock& clock) {
  const LabelShares shares(problem);
  Planned planned;
  const auto count = static_cast<double>(epochs);
  for (std::int64_t epoch = 1; epoch <= epochs; ++epoch) {
    const TimePoint start = clock.Now();
    const SamplingPlan plan = PlanEpoch(problem, options, static_cast<std::uint64_t>(epoch));
    planned.took += (clock.Now() - start) / epochs;
    for (const double seconds : StepDurations(plan, problem)) planned.seconds += seconds / count;
    planned.deviation += Mean(StepDeviations(plan, shares)) / count;
  }
  return planned;
}

SamplingOptions WithSeed(SamplingOptions options, const Experiment& experiment) {
  options.batch = experiment.train.batch;
  options.seed = experiment.goal.seed;
  return options;
}

}  // namespace

StatusOr<Measurement> MeasureSplit(const SplitArm& arm, std::uint64_t seed, const Clock& clock,
                                   const SimulationOptions& options) {
  Experiment experiment = arm.experiment;
  experiment.goal.seed = seed;
  experiment.sampling = WithSeed(experiment.sampling, experiment);
  TRIBUTARY_ASSIGN_OR_RETURN(const SamplingProblem problem, ProblemOf(experiment, options.data_dir));
  if (arm.bound) {
    const Planned bound = PlanEpochs(problem, WithSeed(*arm.bound, experiment), arm.epochs, clock);
    experiment.sampling.max_deviation = std::min(kLargestDeviation, bound.deviation);
  }
  const Planned planned = PlanEpochs(problem, experiment.sampling, arm.epochs, clock);
  const std::int64_t steps = EpochSteps(problem, experiment.sampling);
  Measurement measurement{{{"planned seconds", planned.seconds},
                           {"deviation", planned.deviation},
                           {"steps", static_cast<double>(steps)}},
                          {}};
  if (arm.trained == 0) return measurement;
  experiment.goal.rounds = arm.trained * steps;
  experiment.goal.evaluate_every = steps;
  const TimePoint start = clock.Now();
  TRIBUTARY_ASSIGN_OR_RETURN(Measurement run, MeasureRun(experiment, {}, options));
  const double took = ToSeconds(clock.Now() - start);
  if (!run.numbers.contains("virtual seconds")) return measurement;
  const auto trained = static_cast<double>(arm.trained);
  measurement.numbers["seconds per epoch"] = run.numbers["virtual seconds"] / trained;
  if (took > 0) measurement.numbers["planning share"] = trained * ToSeconds(planned.took) / took;
  if (run.curve.size() >= kLastEpochs) {
    double sum = 0;
    for (const Point& point : std::span(run.curve).last(kLastEpochs)) sum += point.y;
    measurement.numbers["accuracy"] = sum / kLastEpochs;
  }
  measurement.curve = std::move(run.curve);
  return measurement;
}

}  // namespace tributary::inline reproduce
