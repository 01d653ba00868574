#pragma once

#include <cstdint>
#include <span>

#include "tributary/model/model.h"

namespace tributary::inline model {

// Fills fresh weights, the same on every machine for a seed: convolutions and linear layers from a uniform law with
// variance 2/fan-out (convolutions), 2/fan-in (hidden linear layers) or 1/fan-in (the classifier); biases zero; norms
// scale one and shift zero, running mean zero and variance one.
void InitialiseWeights(const Model& model, std::uint64_t seed, std::span<float> parameters,
                       std::span<float> statistics);

}  // namespace tributary::inline model
