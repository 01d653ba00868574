#include "tributary/reproduce/split_measurement.h"

#include <algorithm>

#include "tributary/device/setting.h"
#include "tributary/experiment/fleet_builder.h"
#include "tributary/policy/sampling/sampling_plan.h"
#include "tributary/reproduce/run_measurement.h"

namespace tributary::inline reproduce {
namespace {

constexpr std::size_t kLastEpochs = 3;
constexpr double kLargestDeviation = 2;  // there is none beyond

// What the coordinator knows when it plans, and labels and delays even where it does not ask for them.
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
  Duration took{0};                   // to plan one, without measuring it
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
