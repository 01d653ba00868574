#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "tributary/base/status.h"
#include "tributary/data/dataset.h"
#include "tributary/engine/executor.h"

namespace tributary::inline device {

struct Evaluation {
  double loss = 0;      // mean over the samples
  double accuracy = 0;  // share whose most likely class is right
  std::size_t samples = 0;
};

// Runs a network over these samples of a data set without learning. `done`, if given, is called after each batch with the number
// of samples so far; it may say false to give up, which is reported as cancelled. The result does not depend on how
// the samples are batched, up to rounding.
StatusOr<Evaluation> Evaluate(Executor& executor, const Dataset& dataset,
                              std::span<const std::uint32_t> indices,
                              const std::function<bool(std::size_t)>& done = {});
// The same over all of them.
StatusOr<Evaluation> Evaluate(Executor& executor, const Dataset& dataset,
                              const std::function<bool(std::size_t)>& done = {});

}  // namespace tributary::inline device
