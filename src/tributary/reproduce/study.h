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

// How much is run: quick ends within twenty minutes on two cores, full is what the figures in the documents are from.
enum class Effort { kQuick, kFull };

// A reproduction together with how its runs are made.
struct Study {
  Reproduction reproduction;
  std::map<std::string, ArmPlan> plans;  // by the arm's name
  std::vector<std::uint64_t> seeds;      // where the person names none
  Target target;
  // Instead of plans, where an arm is not an experiment. Its runs are timed, so they are made one at a time.
  std::function<ArmRunner(const SimulationOptions&)> runner;
};

// Reads a study (docs/studies.md has the format), for one effort. `data_dir` is where published data sets lie, for
// variants that take a data set if it is there. `source` is as in experiment/reader.h: without a folder the study can
// name presets only, no files.
//
// Everything else is refused with a message that names file and line, the key, what was found and what is allowed.
// Memory and time are bounded whatever the text.
StatusOr<Study> ReadStudyText(std::string_view text, const TextSource& source, Effort effort,
                              const std::filesystem::path& data_dir = {});

// The numbers that runs have, which a study may show: of whole runs, and of epochs (run_measurement.h).
const std::vector<std::string>& NumbersOfRuns();
const std::vector<std::string>& NumbersOfEpochs();

// What is run with this seed. `grid` are the results of the arms of the grid with the first seed, in the order of the
// arms; the best is the first to reach the target, or where none does, the one with the highest final accuracy.
StatusOr<Experiment> ExperimentOf(const ArmPlan& plan, std::uint64_t seed, const Study& study,
                                  std::span<const ArmResult> grid);

// The studies that come with the program: the files of presets/studies, and those in code. By name.
struct StudyEntry {
  std::string name;
  std::string about;  // one line
};
std::vector<StudyEntry> ListStudies();
// With a slash in it or .toml at its end, `name` is a study file, else a study that comes with the program; an unknown
// name is answered with the nearest.
StatusOr<Study> MakeStudy(const std::string& name, Effort effort, const std::filesystem::path& data_dir = {});

// dynacomm: strategies of cutting transfers, on profiles measured here.
StatusOr<Study> MakeDynaCommStudy(Effort effort);

// Runs arms by their plans on a simulated fleet. May be called from several threads. `study` must outlive it.
ArmRunner RunnerOf(const Study& study, const SimulationOptions& options);

}  // namespace tributary::inline reproduce
