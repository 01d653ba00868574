#include "tributary/device/evaluation.h"

#include <algorithm>

#include "tributary/base/check.h"
#include "tributary/data/batches.h"

namespace tributary::inline device {

StatusOr<Evaluation> Evaluate(Executor& executor, const Dataset& dataset,
                              const std::function<bool(std::size_t)>& done) {
  return Evaluate(executor, dataset, SampleRange(0, dataset.size()), done);
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

StatusOr<EvaluationTotals> EvaluateInParts(WorkerPool& pool, std::span<Worker> workers,
                                           const Dataset& dataset, const SharedWeights& weights) {
  TRIBUTARY_CHECK(workers.size() >= pool.threads());
  constexpr std::size_t kPart = 250;
  const std::size_t parts = (dataset.size() + kPart - 1) / kPart;
  std::vector<EvaluationTotals> each(parts);
  TRIBUTARY_RETURN_IF_ERROR(pool.Run(parts, [&](std::size_t worker, std::size_t job) -> Status {
    const std::size_t first = job * kPart;
    const LocalData part{&dataset, {}, SampleRange(first, std::min(kPart, dataset.size() - first))};
    TRIBUTARY_ASSIGN_OR_RETURN(each[job], workers[worker].Evaluate({}, weights, part));
    return OkStatus();
  }));
  EvaluationTotals totals;
  for (const EvaluationTotals& part : each) totals += part;
  return totals;
}

NodeIndex PenultimateNode(const Graph& graph) { return graph.node(graph.size() - 1).inputs.front(); }

StatusOr<LabelledFeatures> FeaturesOfNetwork(Executor& executor, const Dataset& dataset,
                                             const std::function<bool(std::size_t)>& done) {
  constexpr std::size_t kBatch = 250;
  const Graph& graph = executor.model().graph;
  const NodeIndex last = PenultimateNode(graph);
  LabelledFeatures made;
  made.dimensions = static_cast<std::size_t>(graph.shape(last).elements());
  made.labels.assign(dataset.labels().begin(), dataset.labels().end());
  made.classes = dataset.classes();
  made.values.reserve(dataset.size() * made.dimensions);
  const std::vector<std::uint32_t> indices = SampleRange(0, dataset.size());
  Batch batch;
  for (std::size_t at = 0; at < indices.size(); at += kBatch) {
    const auto some = std::span(indices).subspan(at, std::min(kBatch, indices.size() - at));
    GatherBatch(dataset, some, {}, {}, batch);
    TRIBUTARY_ASSIGN_OR_RETURN(const std::span<const float> outputs, executor.Predict(batch.inputs, last));
    made.values.insert(made.values.end(), outputs.begin(), outputs.end());
    if (done && !done(at + some.size())) return Cancelled("reading features was interrupted");
  }
  return made;
}

}  // namespace tributary::inline device
