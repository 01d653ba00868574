#include "tributary/reproduce/study.h"

#include <array>
#include <optional>

#include "tributary/base/names.h"
#include "tributary/experiment/format.h"

namespace tributary {
namespace {

// Notes when a run was how accurate, and passes events on.
class CurveSink : public EventSink {
 public:
  CurveSink(EventSink* next, double target) : next_(next), target_(target) {}

  void Write(const Event& event) override {
    if (const auto* evaluated = std::get_if<Evaluated>(&event.what)) {
      const double seconds = ToSeconds(event.time);
      curve_.push_back({seconds, evaluated->accuracy});
      if (!reached_ && evaluated->accuracy >= target_) reached_ = seconds;
    }
    if (next_ != nullptr) next_->Write(event);
  }
  const std::vector<Point>& curve() const { return curve_; }
  std::optional<double> reached() const { return reached_; }

 private:
  EventSink* const next_;
  const double target_;
  std::vector<Point> curve_;
  std::optional<double> reached_;
};

double WaitingShare(const std::vector<DeviceTotals>& devices) {
  double waiting = 0;
  double all = 0;
  for (const DeviceTotals& device : devices) {
    waiting += ToSeconds(device.waiting);
    all += ToSeconds(device.compute + device.transfer - device.hidden + device.waiting);
  }
  return all > 0 ? waiting / all : 0;
}

}  // namespace

std::span<const StudyEntry> ListStudies() {
  static const std::array<StudyEntry, 2> studies = {
      {{"heterogeneity", "what a slow device does to conventional training, as compute and links spread"},
       {"dynacomm", "what cutting transfers into segments saves, on four networks from 1 to 10 Gbit/s"}}};
  return studies;
}

StatusOr<Study> MakeStudy(const std::string& name, Effort effort) {
  if (name == "heterogeneity") return MakeHeterogeneityStudy(effort);
  if (name == "dynacomm") return MakeDynaCommStudy(effort);
  std::vector<std::string> names;
  for (const StudyEntry& study : ListStudies()) names.push_back(study.name);
  return UnknownName("reproduction", name, names);
}

void AddArm(Study& study, std::string name, std::string description, Experiment experiment) {
  study.reproduction.arms.push_back({name, std::move(description), FormatExperiment(experiment)});
  study.experiments.emplace(std::move(name), std::move(experiment));
}

ArmRunner RunnerOf(const Study& study, SimulationOptions options) {
  if (study.runner) return study.runner(std::move(options));
  return [&study, options](const Arm& arm, std::uint64_t seed) -> StatusOr<Measurement> {
    Experiment experiment = study.experiments.at(arm.name);
    experiment.goal.seed = seed;
    SimulationOptions mine = options;
    CurveSink curve(options.watcher, study.target_accuracy);
    mine.watcher = &curve;
    TRIBUTARY_ASSIGN_OR_RETURN(const FinishedRun result, Simulate(experiment, mine));
    if (result.run.reason == RunEnd::kInterrupted) return Cancelled("the run was interrupted");
    const double seconds = ToSeconds(result.time);
    Measurement measurement;
    if (result.run.accuracy) measurement.numbers["accuracy"] = *result.run.accuracy;
    measurement.numbers["virtual seconds"] = seconds;
    measurement.numbers["seconds per round"] = seconds / static_cast<double>(std::max<std::uint64_t>(1, result.run.rounds));
    measurement.numbers["waiting share"] = WaitingShare(result.devices);
    measurement.numbers["megabytes up"] = static_cast<double>(result.up.value) / 1e6;
    if (curve.reached()) measurement.numbers["time to target"] = *curve.reached();
    measurement.curve = curve.curve();
    return measurement;
  };
}

}  // namespace tributary
