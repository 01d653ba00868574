#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/experiment/reader.h"
#include "tributary/reproduce/arm_plan.h"
#include "tributary/reproduce/harness.h"
#include "tributary/reproduce/reproduction.h"

namespace tributary::inline coordinator {
struct SimulationOptions;
}  // namespace tributary::inline coordinator

namespace tributary::inline reproduce {

// How much is run: quick takes at most twenty minutes on two cores; full is what the documentation reports.
enum class Effort { kQuick, kFull };

// A reproduction and how its runs are made.
struct Study {
  Reproduction reproduction;
  std::map<std::string, ArmPlan> plans;  // by the arm's name
  std::vector<std::uint64_t> seeds;      // the default
  Target target;
  // Used instead of plans if arms are not experiments. Its runs are timed, so they are made one at a time.
  std::function<ArmRunner(const SimulationOptions&)> runner;
};

// Reads a study (docs/studies.md) for one effort. `data_dir` is the folder of published data sets, for
// variants that need one. `source`: as in experiment/reader.h; without a folder, only presets can be named.
//
// Errors name file and line, the key, what was found and what is allowed. Bounded in memory and time.
StatusOr<Study> ReadStudyText(std::string_view text, const TextSource& source, Effort effort,
                              const std::filesystem::path& data_dir = {});

// The metrics that a study may show: of whole runs, and of epochs (run_measurement.h).
const std::vector<std::string>& NumbersOfRuns();
const std::vector<std::string>& NumbersOfEpochs();

// The experiment to run with this seed. `grid` has the results of the grid arms with the first seed, in
// order. The best value reached the target first or, if none did, has the best final accuracy or loss.
StatusOr<Experiment> ExperimentOf(const ArmPlan& plan, std::uint64_t seed, const Study& study,
                                  std::span<const ArmResult> grid);

// The built-in studies, by name: the files of presets/studies, and those in code.
struct StudyEntry {
  std::string name;
  std::string about;  // one line
};
std::vector<StudyEntry> ListStudies();
// `name` is a study file if it contains a slash or ends in .toml, otherwise a built-in study; for an unknown
// name, the error suggests the nearest.
StatusOr<Study> MakeStudy(const std::string& name, Effort effort, const std::filesystem::path& data_dir = {});

// dynacomm: transfer strategies, on profiles measured on this machine.
StatusOr<Study> MakeDynaCommStudy(Effort effort);

// Runs arms by their plans on a simulated fleet. Thread-safe. `study` must outlive it.
ArmRunner RunnerOf(const Study& study, const SimulationOptions& options);

}  // namespace tributary::inline reproduce
