#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "tributary/base/check.h"
#include "tributary/policy/mixing/topology.h"

// Any bytes give edges or a reason that names the line. Edges that were read and written again are the same, and make a
// graph or a reason.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tributary;
  const auto edges = ParseEdgeList(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!edges.ok()) {
    TRIBUTARY_CHECK(edges.status().message().starts_with("line "));
    return 0;
  }
  std::string text;
  std::size_t nodes = 1;
  for (const auto& [a, b] : *edges) {
    TRIBUTARY_CHECK(a != b && a < kMostTopologyNodes && b < kMostTopologyNodes);
    text += std::to_string(a) + " " + std::to_string(b) + "\n";
    nodes = std::max<std::size_t>(nodes, std::max(a, b) + 1);
  }
  const auto again = ParseEdgeList(text);
  TRIBUTARY_CHECK(again.ok() && *again == *edges);

  TopologyOptions options;
  options.kind = TopologyKind::kEdges;
  options.edges = *edges;
  const auto topology = MakeTopology(options, nodes, 1);
  if (!topology.ok()) {
    TRIBUTARY_CHECK(!topology.status().message().empty());
    return 0;
  }
  TRIBUTARY_CHECK(topology->edges.size() + 1 >= nodes && topology->edges.size() <= edges->size());
  for (std::size_t i = 0; i < topology->edges.size(); ++i) {
    TRIBUTARY_CHECK(topology->edges[i].first < topology->edges[i].second);
    TRIBUTARY_CHECK(i == 0 || topology->edges[i - 1] < topology->edges[i]);
  }
  return 0;
}
