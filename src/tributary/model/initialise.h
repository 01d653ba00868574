#pragma once

#include <cstdint>
#include <span>

#include "tributary/model/model.h"

namespace tributary::inline model {

// Fills initial weights, identical on every machine for a seed. Weights of convolutions and linear layers are
// uniform with variance 2/fan-out (convolutions), 2/fan-in (hidden linear layers) or 1/fan-in (classifier).
// Biases are 0. Norms have scale 1 and shift 0, running mean 0 and variance 1.
void InitialiseWeights(const Model& model, std::uint64_t seed, std::span<float> parameters,
                       std::span<float> statistics);

}  // namespace tributary::inline model
