#include "tributary/model/cut_points.h"

#include <algorithm>

namespace tributary {

std::vector<bool> CutPoints(const Graph& graph) {
  std::vector<bool> cuts(graph.size(), false);
  NodeIndex needed_until = graph.last_use(0);  // by anything before the node at hand
  for (NodeIndex i = 1; i + 1 < graph.size(); ++i) {
    cuts[i] = needed_until <= i;
    needed_until = std::max(needed_until, graph.last_use(i));
  }
  return cuts;
}

}  // namespace tributary
