#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/experiment/experiment.h"

namespace tributary::inline reproduce {

// Stream rates that are drawn from a distribution of this mean and standard deviation, in samples per second.
struct RateSetting {
  enum class Shape { kUniform, kNormal };

  Shape shape = Shape::kUniform;
  double mean = 0;
  double deviation = 0;
  double least = 0;  // rates below are raised to it
};

// The rate below which this share, in (0, 1), of the distribution lies, to a tenth of a sample per second.
double RateAt(const RateSetting& setting, double share);
// A rate for each device, a function of the seed.
std::vector<double> DrawnRates(const RateSetting& setting, std::size_t devices, std::uint64_t seed);

// When a run has reached its target.
struct Target {
  double accuracy = 0;
  // The mean of this many evaluations in a row must reach the target. Accuracy goes up and down from one evaluation to
  // the next, so with one evaluation the run that is evaluated more often reaches the target first.
  std::size_t evaluations = 1;
  // Instead of an accuracy: a loss to fall to. The curve is then of losses.
  std::optional<double> loss;
};

// How the runs of an arm are made.
struct ArmPlan {
  Experiment experiment;  // The seed is that of the run.
  bool curve = true;      // The curve is kept and drawn.
  bool once = false;      // Only the first seed is run. With the others the arm has no numbers.
  // Rounds and evaluations such that a run learns from this many samples; 0: those of the experiment.
  double samples = 0;
  double samples_per_evaluation = 0;
  // The stream rates of the first group are drawn anew for each seed.
  std::optional<RateSetting> drawn;
  // Method `split` only, 0 elsewhere: planned epochs, and how many of these are trained (run_measurement.h). `bound` is
  // the sampling whose deviation the plan must not exceed.
  std::int64_t epochs = 0;
  std::int64_t trained = 0;
  std::optional<SamplingOptions> bound;
  // The arm of a grid that stands for one value of an axis, and an arm that takes the best value: `choices` has its
  // experiment with each value, in the order of the axis.
  std::string grid_of, tuned_by;
  std::vector<Experiment> choices;
};

// Sets rounds and evaluate-every so that a run learns from about this many samples. Method `sync-sgd` only; fails also
// where stream rates are distributions, as the number of samples in a round is then not known.
Status SetLength(Experiment& experiment, double samples, double samples_per_evaluation);

}  // namespace tributary::inline reproduce
