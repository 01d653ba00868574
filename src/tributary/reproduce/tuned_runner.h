#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "tributary/base/status.h"
#include "tributary/reproduce/harness.h"
#include "tributary/reproduce/run_measurement.h"

namespace tributary::inline reproduce {

// An arm of a study whose learning rate is the best of a grid.
struct TunedArm {
  enum class Rate {
    kBest,  // the grid's outcome
    kGrid,  // its own, as one of those that the grid consists of
    kOwn,   // its own
  };

  Experiment experiment;
  Rate rate = Rate::kBest;
  // What is different with every seed beside chance, where there is something.
  std::function<void(Experiment& experiment, std::uint64_t seed)> vary;
  bool curve = false;  // whether it is worth drawing
  bool once = false;   // run with the first seed only, as all of the grid are
};

// Runs arms by name. The grid is run when the first arm needs its outcome: the learning rate whose run got to the target
// first, or where none did, furthest. Runs that are the same are made once, as long as the runner lives; after an
// interruption the grid may be run again, with the same outcome.
class TunedRunner {
 public:
  using Arms = std::map<std::string, TunedArm>;
  // At least one arm is of the grid.
  TunedRunner(Arms arms, const Target& target, SimulationOptions options);

  // Nothing is measured where an arm is run once and this is another seed.
  StatusOr<Measurement> Run(const std::string& arm, std::uint64_t seed);
  StatusOr<double> BestRate();

 private:
  StatusOr<Measurement> Measure(Experiment experiment, std::uint64_t seed);

  const Arms arms_;
  const Target target_;
  const SimulationOptions options_;
  std::map<std::string, Measurement> runs_;  // by the experiment
  std::optional<double> best_rate_;
};

}  // namespace tributary::inline reproduce
