#pragma once

#include <cstddef>
#include <span>

#include "tributary/base/status.h"
#include "tributary/policy/dropout/nsga2.h"

namespace tributary {

// What a search is given from outside, looked at before it is used: a flag, a file of saved state, measured values. The
// first mistake in words.

Status CheckSearch(const Nsga2Options& options, std::span<const VariableBounds> bounds);

// The rest with options and bounds that were found right.
Status CheckGiven(const Nsga2Options& options, std::span<const VariableBounds> bounds,
                  std::span<const Genome> given);
Status CheckState(const Nsga2Options& options, std::span<const VariableBounds> bounds,
                  const Nsga2State& state);
Status CheckTold(const Nsga2State& state, std::size_t asked, std::span<const Objectives> objectives);

}  // namespace tributary
