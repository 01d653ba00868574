#include "tributary/reproduce/study.h"

#include <array>

#include "tributary/base/names.h"
#include "tributary/experiment/format.h"
#include "tributary/reproduce/run_measurement.h"

namespace tributary::inline reproduce {

std::span<const StudyEntry> ListStudies() {
  static const std::array<StudyEntry, 7> studies = {
      {{"heterogeneity", "what a slow device does to conventional training, as compute and links spread"},
       {"dynacomm", "what cutting transfers into segments saves, on four networks from 1 to 10 Gbit/s"},
       {"scadles", "what following streams of unequal rate gains over waiting for the slowest"},
       {"psl", "what drawing global batches gains over a fixed batch of every client, in split learning"},
       {"distreal", "what devices gain that train as much of the network as they can afford at each step"},
       {"rcd-sgd", "what shards that fit each worker's speed and look alike gain in decentralised training"},
       {"showcase", "what all mechanisms do together, and what is missing without each of them"}}};
  return studies;
}

StatusOr<Study> MakeStudy(const std::string& name, Effort effort, const std::filesystem::path& data_dir) {
  if (name == "heterogeneity") return MakeHeterogeneityStudy(effort);
  if (name == "dynacomm") return MakeDynaCommStudy(effort);
  if (name == "scadles") return MakeScadlesStudy(effort, data_dir);
  if (name == "psl") return MakePslStudy(effort, data_dir);
  if (name == "distreal") return MakeDistrealStudy(effort, data_dir);
  if (name == "rcd-sgd") return MakeRcdSgdStudy(effort, data_dir);
  if (name == "showcase") return MakeShowcaseStudy(effort);
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
    return MeasureRun(experiment, {study.target_accuracy, 1, study.target_loss}, options);
  };
}

}  // namespace tributary::inline reproduce
