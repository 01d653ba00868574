#include "tributary/device/evaluate_in_parts.h"

#include <algorithm>
#include <numeric>

#include "tributary/base/check.h"

namespace tributary::inline device {

StatusOr<EvaluationTotals> EvaluateInParts(WorkerPool& pool, std::span<Worker> workers,
                                           const Dataset& dataset, const SharedWeights& weights) {
  TRIBUTARY_CHECK(workers.size() >= pool.threads());
  constexpr std::size_t kPart = 250;
  const std::size_t parts = (dataset.size() + kPart - 1) / kPart;
  std::vector<EvaluationTotals> each(parts);
  TRIBUTARY_RETURN_IF_ERROR(pool.Run(parts, [&](std::size_t worker, std::size_t job) -> Status {
    LocalData part{&dataset, {}, std::vector<std::uint32_t>(std::min(kPart, dataset.size() - job * kPart))};
    std::iota(part.held_out.begin(), part.held_out.end(), static_cast<std::uint32_t>(job * kPart));
    TRIBUTARY_ASSIGN_OR_RETURN(each[job], workers[worker].Evaluate({}, weights, part));
    return OkStatus();
  }));
  EvaluationTotals totals;
  for (const EvaluationTotals& part : each) totals += part;
  return totals;
}

}  // namespace tributary::inline device
