#include "tributary/policy/mixing/topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <string>

#include "tributary/base/number_text.h"
#include "tributary/base/portable_math.h"
#include "tributary/base/rng.h"

namespace tributary::inline policy {
namespace {

constexpr std::uint64_t kTries = 100;

std::string EdgeText(const Edge& edge) {
  return "(" + std::to_string(edge.first) + ", " + std::to_string(edge.second) + ")";
}

Status TooManyEdges(const std::string& found) {
  return InvalidArgument("topology: " + found + " edges; allowed: " + std::to_string(kMostTopologyEdges) +
                         ". Use fewer nodes or a sparser graph");
}

void AddEdge(std::vector<Edge>& edges, std::size_t a, std::size_t b) {
  edges.emplace_back(static_cast<std::uint32_t>(std::min(a, b)), static_cast<std::uint32_t>(std::max(a, b)));
}

std::vector<Edge> RingEdges(std::size_t nodes) {
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < nodes; ++i) AddEdge(edges, i, (i + 1) % nodes);
  return edges;
}

StatusOr<std::vector<Edge>> TorusEdges(std::size_t nodes) {
  std::size_t rows = 1;
  for (std::size_t d = 2; d * d <= nodes; ++d) {
    if (nodes % d == 0) rows = d;
  }
  if (rows == 1) {
    return InvalidArgument(
        fmt::format("topology torus: found {} nodes, which is a prime and would make a ring; allowed: a "
                    "number with two factors above 1, such as {}. Or use ring",
                    nodes, nodes < 4 ? 4 : nodes + 1));
  }
  const std::size_t columns = nodes / rows;
  std::vector<Edge> edges;
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      AddEdge(edges, r * columns + c, r * columns + (c + 1) % columns);
      AddEdge(edges, r * columns + c, (r + 1) % rows * columns + c);
    }
  }
  return edges;
}

StatusOr<std::vector<Edge>> CompleteEdges(std::size_t nodes) {
  const std::size_t count = nodes * (nodes - 1) / 2;
  if (count > kMostTopologyEdges) {
    return TooManyEdges("complete over " + std::to_string(nodes) + " nodes has " + std::to_string(count));
  }
  std::vector<Edge> edges;
  for (std::size_t a = 0; a < nodes; ++a) {
    for (std::size_t b = a + 1; b < nodes; ++b) AddEdge(edges, a, b);
  }
  return edges;
}

StatusOr<std::vector<Edge>> HypercubeEdges(std::size_t nodes) {
  if (!std::has_single_bit(nodes)) {
    return InvalidArgument(fmt::format(
        "topology hypercube: found {} nodes; allowed: a power of two, the nearest being {} and {}", nodes,
        std::bit_floor(nodes), std::bit_ceil(nodes)));
  }
  std::vector<Edge> edges;
  for (std::size_t a = 0; a < nodes; ++a) {
    for (std::size_t bit = 1; bit < nodes; bit *= 2) {
      if ((a & bit) == 0) AddEdge(edges, a, a | bit);
    }
  }
  return edges;
}

// Skips from edge to edge by geometrically distributed gaps, so the work is proportional to the edges drawn,
// not to the possible edges. Stops one edge above the limit.
std::vector<Edge> DrawEdges(std::size_t nodes, double probability, Rng& rng) {
  const double log_absent = probability < 1e-8 ? -probability : PortableLog(1 - probability);
  const auto pairs = static_cast<double>(nodes * (nodes - 1) / 2);
  std::vector<Edge> edges;
  // The pairs (0, 1), (0, 2), (1, 2), (0, 3), …
  std::size_t larger = 1, smaller = 0;
  while (edges.size() <= kMostTopologyEdges) {
    const double gap = PortableLog(1 - rng.Uniform()) / log_absent;
    smaller += static_cast<std::size_t>(std::min(gap, pairs));
    while (smaller >= larger && larger < nodes) smaller -= larger++;
    if (larger >= nodes) break;
    AddEdge(edges, smaller++, larger);
  }
  return edges;
}

StatusOr<std::vector<Edge>> ErdosRenyiEdges(std::size_t nodes, double probability, std::uint64_t seed) {
  if (!(probability > 0 && probability <= 1)) {
    return InvalidArgument("topology erdos-renyi: probability must be above 0 and at most 1; found " +
                           NumberText(probability));
  }
  for (std::uint64_t attempt = 0; attempt < kTries; ++attempt) {
    Rng rng = Rng::ForStream(seed, DeviceId{0}, "topology", attempt);
    Topology drawn{nodes, DrawEdges(nodes, probability, rng)};
    if (drawn.edges.size() > kMostTopologyEdges) {
      return TooManyEdges(fmt::format("erdos-renyi with probability {} over {} nodes draws more than {}",
                                      NumberText(probability), nodes, kMostTopologyEdges));
    }
    if (!FindUnreachable(drawn)) return std::move(drawn.edges);
  }
  const double enough = PortableLog(static_cast<double>(nodes)) / static_cast<double>(nodes);
  return InvalidArgument("topology erdos-renyi: none of " + std::to_string(kTries) + " graphs of " +
                         std::to_string(nodes) + " nodes with probability " + NumberText(probability) +
                         " was connected. Increase it: graphs are mostly connected well above " +
                         NumberText(enough));
}

StatusOr<std::vector<Edge>> GivenEdges(const std::vector<Edge>& given, std::size_t nodes) {
  if (given.size() > kMostTopologyEdges) return TooManyEdges("found " + std::to_string(given.size()));
  std::vector<Edge> edges;
  for (const Edge& edge : given) {
    if (edge.first == edge.second) {
      return InvalidArgument("topology edges: " + EdgeText(edge) +
                             " joins a node to itself; a node keeps its own share without an edge");
    }
    if (std::max(edge.first, edge.second) >= nodes) {
      return InvalidArgument("topology edges: " + EdgeText(edge) + " names an unknown node; allowed: 0 to " +
                             std::to_string(nodes - 1));
    }
    AddEdge(edges, edge.first, edge.second);
  }
  return edges;
}

StatusOr<std::vector<Edge>> EdgesOf(const TopologyOptions& options, std::size_t nodes, std::uint64_t seed) {
  if (options.kind == TopologyKind::kEdges) return GivenEdges(options.edges, nodes);
  if (options.kind == TopologyKind::kErdosRenyi) return ErdosRenyiEdges(nodes, options.probability, seed);
  if (nodes == 1) return std::vector<Edge>{};
  if (options.kind == TopologyKind::kRing) return RingEdges(nodes);
  if (options.kind == TopologyKind::kTorus) return TorusEdges(nodes);
  return options.kind == TopologyKind::kComplete ? CompleteEdges(nodes) : HypercubeEdges(nodes);
}

constexpr std::string_view kBlanks = " \t\r";

// A word for a message: shortened, and without control characters.
std::string ShownWord(std::string_view word) {
  constexpr std::size_t kLongest = 40;
  std::string shown;
  for (const char c : word.substr(0, kLongest)) shown += c >= ' ' && c <= '~' ? c : '?';
  return "'" + shown + (word.size() > kLongest ? "…'" : "'");
}

// Takes the next word of the line; empty at its end.
std::string_view TakeWord(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(kBlanks));
  line.remove_prefix(word.size());
  return word;
}

std::optional<std::uint32_t> ReadNode(std::string_view word) {
  std::uint32_t node = 0;
  const char* const end = word.data() + word.size();
  const auto parsed = std::from_chars(word.data(), end, node);
  if (parsed.ec != std::errc() || parsed.ptr != end || node >= kMostTopologyNodes) return std::nullopt;
  return node;
}

}  // namespace

StatusOr<Topology> MakeTopology(const TopologyOptions& options, std::size_t nodes, std::uint64_t seed) {
  if (nodes == 0 || nodes > kMostTopologyNodes) {
    return InvalidArgument("topology: found " + std::to_string(nodes) + " nodes; allowed: 1 to " +
                           std::to_string(kMostTopologyNodes));
  }
  TRIBUTARY_ASSIGN_OR_RETURN(std::vector<Edge> edges, EdgesOf(options, nodes, seed));
  std::ranges::sort(edges);
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  Topology topology{nodes, std::move(edges)};
  if (const auto apart = FindUnreachable(topology)) {
    return InvalidArgument(
        fmt::format("topology {}: there is no path between nodes {} and {}, so their models would never "
                    "agree. Add edges that connect all {} nodes",
                    NameOf(options.kind), apart->first, apart->second, nodes));
  }
  return topology;
}

std::vector<std::size_t> Degrees(const Topology& topology) {
  std::vector<std::size_t> degrees(topology.nodes, 0);
  for (const auto& [a, b] : topology.edges) {
    ++degrees[a];
    ++degrees[b];
  }
  return degrees;
}

std::optional<Edge> FindUnreachable(const Topology& topology) {
  // Union-find with path halving.
  std::vector<std::uint32_t> parent(topology.nodes);
  for (std::uint32_t i = 0; i < topology.nodes; ++i) parent[i] = i;
  const auto root = [&](std::uint32_t node) {
    while (parent[node] != node) node = parent[node] = parent[parent[node]];
    return node;
  };
  for (const auto& [a, b] : topology.edges) parent[root(a)] = root(b);
  for (std::uint32_t i = 1; i < topology.nodes; ++i) {
    if (root(i) != root(0)) return Edge{0, i};
  }
  return std::nullopt;
}

StatusOr<std::vector<Edge>> ParseEdgeList(std::string_view text) {
  std::vector<Edge> edges;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto fail = [&](const std::string& what) {
      return Corrupt("line " + std::to_string(number) + ": " + what);
    };
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line = line.substr(0, line.find('#'));

    std::uint32_t nodes[2] = {};
    std::string_view word = TakeWord(line);
    if (word.empty()) continue;
    for (std::uint32_t& node : nodes) {
      if (word.empty()) return fail("names one node; an edge needs two, such as '0 1'");
      const std::optional<std::uint32_t> read = ReadNode(word);
      if (!read) {
        return fail(ShownWord(word) + " is not a node; allowed: a number from 0 to " +
                    std::to_string(kMostTopologyNodes - 1));
      }
      node = *read;
      word = TakeWord(line);
    }
    if (!word.empty())
      return fail(ShownWord(word) + " follows two nodes; an edge has only two, such as '0 1'");
    if (nodes[0] == nodes[1]) return fail(fmt::format("joins node {} to itself; leave it out", nodes[0]));
    if (edges.size() == kMostTopologyEdges) {
      return fail("has one edge too many; allowed: " + std::to_string(kMostTopologyEdges));
    }
    edges.emplace_back(nodes[0], nodes[1]);
  }
  return edges;
}

std::vector<std::vector<Neighbour>> MetropolisWeights(const Topology& topology) {
  const std::vector<std::size_t> degrees = Degrees(topology);
  std::vector<std::vector<Neighbour>> rows(topology.nodes);
  // Edges are sorted, so a node's smaller neighbours come before its larger ones, both ascending.
  for (const auto& [a, b] : topology.edges) {
    const double weight = 1 / static_cast<double>(1 + std::max(degrees[a], degrees[b]));
    rows[a].push_back({b, weight});
    rows[b].push_back({a, weight});
  }
  return rows;
}

double SelfWeight(std::span<const Neighbour> row) {
  double self = 1;
  for (const Neighbour& neighbour : row) self -= neighbour.weight;
  return self;
}

}  // namespace tributary::inline policy
