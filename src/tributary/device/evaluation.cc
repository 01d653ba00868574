#include "tributary/device/evaluation.h"

#include <algorithm>
#include <numeric>

#include "tributary/data/batches.h"

namespace tributary::inline device {

StatusOr<Evaluation> Evaluate(Executor& executor, const Dataset& dataset,
                              const std::function<bool(std::size_t)>& done) {
  std::vector<std::uint32_t> indices(dataset.size());
  std::iota(indices.begin(), indices.end(), 0U);
  return Evaluate(executor, dataset, indices, done);
}

StatusOr<Evaluation> Evaluate(Executor& executor, const Dataset& dataset,
                              std::span<const std::uint32_t> indices,
                              const std::function<bool(std::size_t)>& done) {
  constexpr std::size_t kBatch = 250;
  Batch batch;
  double loss = 0;
  std::int64_t correct = 0;
  for (std::size_t at = 0; at < indices.size(); at += kBatch) {
    const auto some = indices.subspan(at, std::min(kBatch, indices.size() - at));
    GatherBatch(dataset, some, {}, {}, batch);
    TRIBUTARY_ASSIGN_OR_RETURN(const PassResult result, executor.Evaluate({batch.inputs, batch.labels}));
    loss += result.loss * static_cast<double>(some.size());
    correct += result.correct;
    if (done && !done(at + some.size())) return Cancelled("the evaluation was interrupted");
  }
  const auto samples = static_cast<double>(std::max<std::size_t>(1, indices.size()));
  return Evaluation{loss / samples, static_cast<double>(correct) / samples, indices.size()};
}

}  // namespace tributary::inline device
