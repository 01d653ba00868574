#include "tributary/model/model.h"

#include "tributary/base/check.h"

namespace tributary::inline model {
namespace {

// Units are frozen whole.
std::vector<TransferUnit> UnitsThat(bool are_frozen, const Graph& graph, const std::vector<bool>& frozen) {
  std::vector<TransferUnit> units = TransferUnits(graph);
  std::erase_if(units, [&](const TransferUnit& unit) { return frozen[unit.nodes.front()] != are_frozen; });
  return units;
}

}  // namespace

Model::Model(Graph g) : Model(std::move(g), {}, nullptr) {}

Model::Model(Graph g, std::vector<bool> frozen_nodes, std::shared_ptr<const FlatBuffer> values)
    : graph(std::move(g)),
      costs(NodeCosts(graph)),
      cuts(SplitPoints(graph)),
      frozen(frozen_nodes.empty() ? std::vector<bool>(graph.size(), false) : std::move(frozen_nodes)),
      units(UnitsThat(false, graph, frozen)),
      channels(FindChannelGroups(graph, frozen)),
      parameters(ParameterLayout(graph, units)),
      statistics(StatisticsLayout(graph, units)),
      constants(WholeLayout(graph, UnitsThat(true, graph, frozen))),
      constant_values(std::move(values)) {
  TRIBUTARY_CHECK(frozen.size() == graph.size());
  TRIBUTARY_CHECK(constants.size == (constant_values ? constant_values->size() : 0));
}

}  // namespace tributary::inline model
