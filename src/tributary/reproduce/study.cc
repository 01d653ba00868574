#include "tributary/reproduce/study.h"

#include <algorithm>

#include "tributary/base/check.h"
#include "tributary/base/file.h"
#include "tributary/base/names.h"
#include "tributary/coordinator/simulation.h"
#include "tributary/experiment/document.h"
#include "tributary/experiment/presets.h"
#include "tributary/reproduce/run_measurement.h"

namespace tributary::inline reproduce {

std::vector<StudyEntry> ListStudies() {
  std::vector<StudyEntry> studies = {
      {"dynacomm", "time saved by transfer segments, on four networks from 1 to 10 Gbit/s"}};
  for (const EmbeddedPreset& study : EmbeddedStudies()) {
    const auto document = ParseDocument(study.text, std::string(study.name));
    TRIBUTARY_CHECK(document.ok());  // built in, and a test reads all of them
    const Value* summary = FindMember(std::get<Table>(document->root.content), "summary");
    TRIBUTARY_CHECK(summary != nullptr);
    studies.push_back({std::string(study.name), std::get<std::string>(summary->content)});
  }
  std::ranges::sort(studies, {}, &StudyEntry::name);
  return studies;
}

StatusOr<Study> MakeStudy(const std::string& name, Effort effort, const std::filesystem::path& data_dir) {
  if (name.find('/') != std::string::npos || name.ends_with(".toml")) {
    TRIBUTARY_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, ReadFile(name, kLargestDocument));
    return ReadStudyText({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                         {name, std::filesystem::path(name).parent_path()}, effort, data_dir);
  }
  if (name == "dynacomm") return MakeDynaCommStudy(effort);
  std::vector<std::string> names = {"dynacomm"};
  for (const EmbeddedPreset& study : EmbeddedStudies()) {
    names.emplace_back(study.name);
    if (study.name != name) continue;
    return ReadStudyText(study.text, {"presets/studies/" + name + ".toml", std::nullopt}, effort, data_dir);
  }
  std::ranges::sort(names);
  return InvalidArgument(UnknownName("reproduction", name, names).message() +
                         ", or the path of a study file, ending in .toml");
}

ArmRunner RunnerOf(const Study& study, const SimulationOptions& options) {
  if (study.runner) return study.runner(options);
  return [&study, options, clock = std::shared_ptr<const Clock>(MakeRealClock())](
             const Arm& arm, std::uint64_t seed, std::span<const ArmResult> grid) -> StatusOr<Measurement> {
    const auto found = study.plans.find(arm.name);
    if (found == study.plans.end()) return NotFound("no such arm: " + arm.name);
    const ArmPlan& plan = found->second;
    if ((plan.once || arm.grid) && seed != kFirstSeed) return Measurement{};
    TRIBUTARY_ASSIGN_OR_RETURN(Experiment experiment, ExperimentOf(plan, seed, study, grid));
    auto measured = plan.epochs > 0
                        ? MeasureSplit({std::move(experiment), plan.epochs, plan.trained, plan.bound}, seed,
                                       *clock, options)
                        : MeasureRun(experiment, study.target, options);
    if (measured.ok() && !plan.curve) measured->curve.clear();
    return measured;
  };
}

}  // namespace tributary::inline reproduce
