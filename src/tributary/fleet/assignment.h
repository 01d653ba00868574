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

// The kinds of work of a device. Only the assignment and the device's own data enter the answer, to the bit:
// a simulated and a real device, or one device asked twice, answer the same.

// Initial weights of an assignment, owned by the caller. Devices share them and only read.
struct SharedWeights {
  std::span<const float> parameters;
  std::span<const float> statistics;
};

struct TrainAssignment {
  enum class Answer {
    kGradient,  // mean gradient of one batch at the given weights
    kChange,    // change of the parameters after `steps` local optimiser steps
    // None: the device trains its own model, averages it with its neighbours' models, and keeps it. The given
    // weights initialise a device without a model.
    kGossip,
  };

  Answer answer = Answer::kGradient;
  RoundId round{1};        // from 1; selects the position in the device's data and keys its random numbers
  int steps = 1;           // always 1 for a gradient
  int epochs = 0;          // passes over the device's own data; replaces `steps` if not 0
  std::size_t batch = 64;  // samples per step; a device with fewer samples uses all of them
  // Offset of the batch in the device's sample sequence, reshuffled every epoch; continues the last batch.
  std::optional<std::int64_t> first;
  double label_smoothing = 0;
  AugmentOptions augment;
  std::uint64_t seed = 1;

  // For local steps. The optimiser state is reset in each assignment, except with kGossip.
  OptimiserOptions optimiser;
  double learning_rate = 0.1;
  double prox = 0;  // FedProx μ: adds prox · (w − w₀) to each gradient, w₀ the given weights
};

// Samples in step `step`, from 0, of a device with `samples` samples. An epoch's last batch may be shorter.
std::size_t SamplesAt(const TrainAssignment& assignment, std::int64_t samples, std::uint64_t step);

// Largest possible weight of an update: the number of samples that the assignment trains on.
double MostWeight(const TrainAssignment& assignment, std::int64_t samples);

// Evaluate the weights on the device's held-out samples.
struct EvaluateAssignment {};

// Sum batch-norm moments over training samples, to estimate running statistics without moving data.
struct CalibrateAssignment {
  RoundId round{1};
  int steps = 1;
  std::size_t batch = 64;
  std::uint64_t seed = 1;
};

// Answer with the device's own model, as an update of weight 1.
struct CollectAssignment {};

using Work = std::variant<TrainAssignment, EvaluateAssignment, CalibrateAssignment, CollectAssignment>;

}  // namespace tributary::inline fleet
