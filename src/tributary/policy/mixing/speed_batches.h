#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tributary {

// Batches in proportion to speed, so that all devices take as long for a step: `batch` samples on average, to the sample
// by largest remainder, and at least one for each. Speeds are positive and finite.
std::vector<std::size_t> SpeedBatches(std::size_t batch, std::span<const double> speeds);

}  // namespace tributary
