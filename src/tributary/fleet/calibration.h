#pragma once

#include <span>

#include "tributary/fleet/report.h"
#include "tributary/model/model.h"

namespace tributary::inline fleet {

// Running statistics from summed moments: mean Σx/n and variance Σx²/n − mean², scaled by n/(n−1) as batch norms do.
// Channels that no sample reached keep what they have.
void EstimateStatistics(const Model& model, const Moments& moments, std::span<float> statistics);

}  // namespace tributary::inline fleet
