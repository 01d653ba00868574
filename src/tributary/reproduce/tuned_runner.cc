#include "tributary/reproduce/tuned_runner.h"

#include "tributary/base/check.h"
#include "tributary/experiment/format.h"

namespace tributary::inline reproduce {
namespace {

constexpr std::uint64_t kFirstSeed = 1;

}  // namespace

TunedRunner::TunedRunner(Arms arms, const Target& target, SimulationOptions options)
    : arms_(std::move(arms)), target_(target), options_(std::move(options)) {}

StatusOr<Measurement> TunedRunner::Run(const std::string& name, std::uint64_t seed) {
  const TunedArm& arm = arms_.at(name);
  Experiment experiment = arm.experiment;
  if ((arm.once || arm.rate == TunedArm::Rate::kGrid) && seed != kFirstSeed) return Measurement{};
  if (arm.rate == TunedArm::Rate::kBest) {
    TRIBUTARY_ASSIGN_OR_RETURN(experiment.train.schedule.learning_rate, BestRate());
  }
  if (arm.vary) arm.vary(experiment, seed);
  TRIBUTARY_ASSIGN_OR_RETURN(Measurement measurement, Measure(std::move(experiment), seed));
  if (!arm.curve) measurement.curve.clear();
  return measurement;
}

StatusOr<Measurement> TunedRunner::Measure(Experiment experiment, std::uint64_t seed) {
  experiment.goal.seed = seed;
  const std::string key = FormatExperiment(experiment);
  if (const auto known = runs_.find(key); known != runs_.end()) return known->second;
  TRIBUTARY_ASSIGN_OR_RETURN(Measurement measurement, MeasureRun(experiment, target_, options_));
  return runs_.emplace(key, std::move(measurement)).first->second;
}

StatusOr<double> TunedRunner::BestRate() {
  if (best_rate_) return *best_rate_;
  struct Best {
    double rate = 0;
    double value = 0;
  };
  std::optional<Best> fastest, furthest;
  for (const auto& [name, arm] : arms_) {
    if (arm.rate != TunedArm::Rate::kGrid) continue;
    TRIBUTARY_ASSIGN_OR_RETURN(Measurement measurement, Measure(arm.experiment, kFirstSeed));
    const double rate = arm.experiment.train.schedule.learning_rate;
    const double accuracy = measurement.numbers["final accuracy"];
    if (!furthest || accuracy > furthest->value) furthest = {rate, accuracy};
    const auto time = measurement.numbers.find("time to target");
    if (time == measurement.numbers.end()) continue;
    if (!fastest || time->second < fastest->value) fastest = {rate, time->second};
  }
  TRIBUTARY_CHECK(furthest.has_value());
  best_rate_ = fastest ? fastest->rate : furthest->rate;
  return *best_rate_;
}

}  // namespace tributary::inline reproduce
