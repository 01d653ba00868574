#include "tributary/model/graph_limits.h"

#include "tributary/model/node_tensors.h"

namespace tributary {

Status CheckGraphLimits(const Graph& graph) {
  constexpr std::size_t kMostNodes = 100'000;
  constexpr std::int64_t kMostChannels = std::int64_t{1} << 22;
  constexpr std::int64_t kMostParameters = std::int64_t{1} << 30;
  const auto too_large = [&](const std::string& what, std::int64_t most) {
    return ResourceExhausted(graph.name() + " has more than " + std::to_string(most) + " " + what);
  };
  if (graph.size() > kMostNodes) return too_large("nodes", static_cast<std::int64_t>(kMostNodes));
  std::int64_t channels = 0;
  std::int64_t parameters = 0;
  for (NodeIndex i = 0; i < graph.size(); ++i) {
    channels += graph.shape(i).channels;
    if (channels > kMostChannels)
      return too_large("channels and columns in all its layers together", kMostChannels);
    for (const NodeTensor& tensor : ParametersOf(graph, i)) parameters += tensor.elements();
    if (parameters > kMostParameters) return too_large("parameters", kMostParameters);
  }
  return OkStatus();
}

}  // namespace tributary
