#include "tributary/device/network_features.h"

#include <algorithm>
#include <numeric>

#include "tributary/data/batches.h"

namespace tributary::inline device {

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
  std::vector<std::uint32_t> indices(dataset.size());
  std::iota(indices.begin(), indices.end(), 0U);
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
