#include "tributary/model/narrow_graph.h"

#include "tributary/base/check.h"
#include "tributary/model/kept_counts.h"
#include "tributary/model/thin_graph.h"

namespace tributary {

Graph NarrowGraph(Graph whole, double width) {
  TRIBUTARY_CHECK(width > 0 && width <= 1);
  if (width == 1) return whole;
  const Model model(std::move(whole));
  const std::vector<double> rates(model.channels.groups.size(), 1 - width);
  const std::vector<std::int64_t> counts = KeptCounts(model.channels, rates);
  KeptAtoms kept = AllAtoms(model.channels);
  for (std::size_t i = 0; i < kept.size(); ++i) kept[i].resize(static_cast<std::size_t>(counts[i]));
  return ThinGraph(model, kept);
}

}  // namespace tributary
