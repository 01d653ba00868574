#include "tributary/model/split_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "tributary/base/check.h"
#include "tributary/base/names.h"

namespace tributary::inline model {
namespace {

constexpr std::size_t kMostNamed = 20;    // Up to this number all cuts are listed,
constexpr std::size_t kNearestNamed = 3;  // above it these.

std::string Quoted(std::string_view name) { return "'" + std::string(name.substr(0, 64)) + "'"; }

std::string Joined(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

// The names nearest to `found`, nearest first, without those that are too different.
std::vector<std::string> LikeNames(std::string_view found, std::vector<std::string> names) {
  std::vector<std::string> like;
  while (like.size() < kNearestNamed) {
    const std::string nearest(NearestName(found, names));
    if (nearest.empty()) break;
    std::erase(names, nearest);
    like.push_back(nearest);
  }
  return like;
}

// The last cut before a node and the first cut after it.
std::vector<std::string> Neighbours(const Graph& graph, const std::vector<bool>& cuts, NodeIndex node) {
  std::vector<std::string> names;
  for (NodeIndex i = node; i-- > 0;) {
    if (!cuts[i]) continue;
    names.push_back(graph.node(i).name);
    break;
  }
  const auto after = std::find(cuts.begin() + static_cast<std::ptrdiff_t>(node), cuts.end(), true);
  if (after != cuts.end()) names.push_back(graph.node(static_cast<NodeIndex>(after - cuts.begin())).name);
  return names;
}

// `nearest` is listed if there are too many names for all.
std::string ValidSplitPoints(const Graph& graph, const std::vector<std::string>& names,
                             const std::vector<std::string>& nearest) {
  if (names.empty()) return "It can be cut nowhere: after every layer more than one tensor is needed.";
  if (names.size() <= kMostNamed) return "It can be cut after: " + Joined(names);
  return "It can be cut after " + std::to_string(names.size()) + " layers" +
         (nearest.empty() ? "" : ", the nearest: " + Joined(nearest)) + "; `tributary models " +
         graph.name() + "` lists them";
}

// Appends nodes first … last; `input` is the part's node that stands for node first − 1.
void Append(const Graph& graph, NodeIndex first, NodeIndex last, NodeIndex input, GraphBuilder& part) {
  for (NodeIndex i = first; i <= last; ++i) {
    const Node& node = graph.node(i);
    std::vector<NodeIndex> inputs;
    for (const NodeIndex source : node.inputs) {
      TRIBUTARY_CHECK(source + 1 >= first);  // The part follows a cut, so no node reads past it.
      inputs.push_back(source + 1 - first + input);
    }
    part.Add(node.name, node.operation, std::move(inputs));
  }
}

}  // namespace

std::vector<bool> SplitPoints(const Graph& graph) {
  std::vector<bool> cuts(graph.size(), false);
  NodeIndex needed_until = graph.last_use(0);  // by any node before the current one
  for (NodeIndex i = 1; i + 1 < graph.size(); ++i) {
    cuts[i] = needed_until <= i;
    needed_until = std::max(needed_until, graph.last_use(i));
  }
  return cuts;
}

StatusOr<NodeIndex> FindSplitPoint(const Graph& graph, const std::vector<bool>& cuts,
                                   std::string_view layer) {
  std::vector<std::string> valid;
  for (NodeIndex i = 0; i < graph.size(); ++i) {
    if (cuts[i]) valid.push_back(graph.node(i).name);
  }
  for (NodeIndex i = 0; i < graph.size(); ++i) {
    if (graph.node(i).name != layer) continue;
    if (cuts[i]) return i;
    const std::string why = i == 0 ? "devices would have no layer"
                            : i + 1 == graph.size()
                                ? "it is the last layer, and nothing would come after the cut"
                                : "more than one tensor is needed beyond it";
    return InvalidArgument(graph.name() + " cannot be cut after " + Quoted(layer) + ": " + why + ". " +
                           ValidSplitPoints(graph, valid, Neighbours(graph, cuts, i)));
  }
  const std::vector<std::string> like = LikeNames(layer, valid);
  return InvalidArgument(graph.name() + " has no layer " + Quoted(layer) +
                         (like.empty() ? ". " : "; did you mean '" + like.front() + "'? ") +
                         ValidSplitPoints(graph, valid, like));
}

Graph PartOf(const Graph& graph, NodeIndex first, NodeIndex last) {
  TRIBUTARY_CHECK(first >= 1 && first <= last && last < graph.size());
  GraphBuilder part(graph.name(), graph.shape(first - 1));
  Append(graph, first, last, 0, part);
  return std::move(part).BuildPart().value();
}

Graph EndsOf(const Graph& graph, NodeIndex cut, NodeIndex tail) {
  TRIBUTARY_CHECK(cut >= 1 && cut < tail && tail + 1 < graph.size());
  GraphBuilder ends(graph.name(), graph.input_shape());
  Append(graph, 1, cut, 0, ends);
  const NodeIndex input = ends.Add(graph.node(tail).name, Input{graph.shape(tail)}, {});
  Append(graph, tail + 1, graph.size() - 1, input, ends);
  return std::move(ends).BuildPart().value();
}

}  // namespace tributary::inline model
