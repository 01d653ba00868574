#pragma once

#include <span>

#include "tributary/policy/compression/parallel_for.h"

namespace tributary {

// In double precision, in an order that is fixed by the number of values alone: the same bits whatever the processor
// and however `parallel` divides the work.
double SumOfSquares(std::span<const float> values, const ParallelFor& parallel = RunInOrder);

}  // namespace tributary
