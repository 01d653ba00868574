#include "tributary/fleet/assignment.h"

#include <algorithm>

namespace tributary::inline fleet {

std::size_t SamplesAt(const TrainAssignment& assignment, std::int64_t samples, std::uint64_t step) {
  if (assignment.first) return assignment.batch;
  if (samples <= 0) return 0;
  const auto all = static_cast<std::uint64_t>(samples), batch = static_cast<std::uint64_t>(assignment.batch);
  const std::uint64_t batches = (all + batch - 1) / batch;
  const std::uint64_t steps = assignment.epochs > 0 ? static_cast<std::uint64_t>(assignment.epochs) * batches
                                                    : static_cast<std::uint64_t>(assignment.steps);
  const std::uint64_t begin = ((assignment.round.value - 1) * steps + step) % batches * batch;
  return static_cast<std::size_t>(std::min(batch, all - begin));
}

double MostWeight(const TrainAssignment& assignment, std::int64_t samples) {
  if (assignment.epochs > 0) return static_cast<double>(assignment.epochs) * static_cast<double>(samples);
  return static_cast<double>(assignment.steps) * static_cast<double>(assignment.batch);
}

}  // namespace tributary::inline fleet
