#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/coordinator/simulation.h"
#include "tributary/experiment/experiment.h"
#include "tributary/reproduce/harness.h"
#include "tributary/reproduce/reproduction.h"

namespace tributary::inline reproduce {

// How much is run: quick ends within twenty minutes on two cores, full is what the figures in the documents are from.
enum class Effort { kQuick, kFull };

// A reproduction together with the experiment behind each of its arms.
struct Study {
  Reproduction reproduction;
  std::map<std::string, Experiment> experiments;       // by the arm's name
  std::vector<std::uint64_t> seeds;                    // where the person names none
  double target_accuracy = 0;                          // of the number "time to target"
  std::optional<double> target_loss;                   // likewise, instead
  std::function<ArmRunner(SimulationOptions)> runner;  // where an arm is no experiment
};

struct StudyEntry {
  std::string name;
  std::string about;  // one line
};
std::span<const StudyEntry> ListStudies();
// An unknown name is answered with the nearest.
// `data_dir` is where published data sets lie, for studies that take one if it is there.
StatusOr<Study> MakeStudy(const std::string& name, Effort effort, const std::filesystem::path& data_dir = {});

// heterogeneity: what a slow device does to conventional training, as compute and links spread.
StatusOr<Study> MakeHeterogeneityStudy(Effort effort);
// dynacomm: strategies of cutting transfers, on profiles measured here.
StatusOr<Study> MakeDynaCommStudy(Effort effort);

// scadles: streams of unequal rate, against waiting for the slowest.
StatusOr<Study> MakeScadlesStudy(Effort effort, const std::filesystem::path& data_dir);

// psl: global batches of a network that is cut, from clients of few classes and unequal delays.
StatusOr<Study> MakePslStudy(Effort effort, const std::filesystem::path& data_dir);

// distreal: what devices train that have too little computation for all of it.
StatusOr<Study> MakeDistrealStudy(Effort effort, const std::filesystem::path& data_dir);

// rcd-sgd: shards that fit each worker's speed, in decentralised training.
StatusOr<Study> MakeRcdSgdStudy(Effort effort, const std::filesystem::path& data_dir);

// showcase: the default experiment, conventionally, with all mechanisms and with all but one.
StatusOr<Study> MakeShowcaseStudy(Effort effort);

// Adds an arm whose results belong to this experiment.
void AddArm(Study& study, std::string name, std::string description, Experiment experiment);

// Runs an arm. Where the study says nothing else: its experiment with a seed on a simulated fleet. Numbers and curve
// are those of run_measurement.h.
ArmRunner RunnerOf(const Study& study, SimulationOptions options);

}  // namespace tributary::inline reproduce
