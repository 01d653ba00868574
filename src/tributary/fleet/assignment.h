#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>

#include "tributary/base/ids.h"
#include "tributary/data/batches.h"
#include "tributary/policy/optimisation/optimiser.h"

namespace tributary::inline fleet {

// What a device can be asked to do. An assignment and a device's own data determine the answer to the bit: nothing
// else may enter, so that a simulated and a real device, or the same device asked again, answer the same.

// The weights that an assignment starts from, owned by the caller. Read by many devices at once, written by none.
struct SharedWeights {
  std::span<const float> parameters;
  std::span<const float> statistics;
};

// Learn from some mini-batches.
struct TrainAssignment {
  enum class Answer {
    kGradient,  // the mean gradient of one batch at the weights given
    kChange,    // how the parameters differ after `steps` local steps of the optimiser below
    // Nothing: the device goes on from a model of its own by local steps, averages it with those of the devices it meets,
    // and keeps it. The weights given are for one that has none yet.
    kGossip,
  };

  Answer answer = Answer::kGradient;
  RoundId round{
      1};  // from 1; says where in its data a device reads and keys its chance, whether or not it was there before
  int steps = 1;           // always 1 for a gradient
  int epochs = 0;          // if not 0, instead of steps: passes over the device's own data
  std::size_t batch = 64;  // samples per step; a device with fewer uses what it has
  // Offset of the batch in the device's sample sequence, reshuffled every epoch. The caller continues where the last
  // batch ended, so every sample comes once an epoch.
  std::optional<std::int64_t> first;
  double label_smoothing = 0;
  AugmentOptions augment;
  std::uint64_t seed = 1;

  // For local steps. The optimiser's state is reset in each assignment, and stays with a device that keeps its model.
  OptimiserOptions optimiser;
  double learning_rate = 0.1;
  double prox = 0;  // pull towards the weights given (FedProx μ): adds prox · (w − w₀) to each gradient
};

// The samples of the assignment's i-th step, from 0, on a device with `samples` samples: the last batch of an epoch may be shorter
// than the others. Both sides of a cut go by this.
std::size_t SamplesAt(const TrainAssignment& assignment, std::int64_t samples, std::uint64_t step);

// How much an update can weigh at most: the number of samples that the device is asked to learn from.
double MostWeight(const TrainAssignment& assignment, std::int64_t samples);

// Measure the weights on the samples a device holds out.
struct EvaluateAssignment {};

// Run forward over training samples and sum up what every batch norm sees, so that running statistics can be estimated
// on data that stay where they are.
struct CalibrateAssignment {
  RoundId round{1};
  int steps = 1;
  std::size_t batch = 64;
  std::uint64_t seed = 1;
};

// Hand over the model of its own that the device has, as an update that weighs one.
struct CollectAssignment {};

using Work = std::variant<TrainAssignment, EvaluateAssignment, CalibrateAssignment, CollectAssignment>;

}  // namespace tributary::inline fleet
