#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>
#include "tributary/base/status.h"
namespace tributary {
enum class TopologyKind { kRing, kTorus, kComplete, kErdosRenyi, kHypercube, kEdges };
struct TopologyOptions {
  TopologyKind kind = TopologyKind::kRing;
  double probability = 0.5;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
  friend bool operator==(const TopologyOptions&, const TopologyOptions&) = default;
};
struct Topology { std::size_t nodes = 0; std::vector<std::pair<std::uint32_t,std::uint32_t>> edges; };
}
