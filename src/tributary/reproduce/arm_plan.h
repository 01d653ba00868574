#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/experiment/experiment.h"

namespace tributary::inline reproduce {

// Stream rates drawn from a distribution with this mean and standard deviation, in samples per second.
struct RateSetting {
  enum class Shape { kUniform, kNormal };

  Shape shape = Shape::kUniform;
  double mean = 0;
  double deviation = 0;
  double least = 0;  // lower rates are raised to it
};

// The quantile of the distribution at `share`, in (0, 1), rounded to 0.1 samples per second.
double RateAt(const RateSetting& setting, double share);
// One random rate per device, a function of the seed.
std::vector<double> DrawnRates(const RateSetting& setting, std::size_t devices, std::uint64_t seed);

// When a run reaches its target.
struct Target {
  double accuracy = 0;
  // The mean of this many consecutive evaluations must reach the target. Accuracy fluctuates, so with a
  // single evaluation the run that is evaluated more often reaches the target first.
  std::size_t evaluations = 1;
  // Target loss instead of an accuracy. The curve is then of losses.
  std::optional<double> loss;
};

// How the runs of an arm are made.
struct ArmPlan {
  Experiment experiment;  // with the run's seed
  bool curve = true;      // keep and draw the curve
  bool once = false;      // run only the first seed; with other seeds the arm has no numbers
  // Set rounds and evaluations so that a run trains on this many samples; 0: as in the experiment.
  double samples = 0;
  double samples_per_evaluation = 0;
  // Redraw the stream rates of the first group for each seed.
  std::optional<RateSetting> drawn;
  // Method `split` only, otherwise 0: epochs to plan, and how many of them to train (run_measurement.h).
  // `bound`: the sampling whose deviation the plan must not exceed.
  std::int64_t epochs = 0;
  std::int64_t trained = 0;
  std::optional<SamplingOptions> bound;
  // `grid_of`: the axis of which this arm is one value. `tuned_by`: the axis whose best value this arm takes;
  // `choices` are its experiments with each value, in the order of the axis.
  std::string grid_of, tuned_by;
  std::vector<Experiment> choices;
};

// Sets rounds and evaluate-every so that a run trains on about this many samples. Method `sync-sgd` only;
// fails if stream rates are distributions, because the number of samples per round is then unknown.
Status SetLength(Experiment& experiment, double samples, double samples_per_evaluation);

}  // namespace tributary::inline reproduce
