#include "tributary/model/model.h"

namespace tributary {

Model::Model(Graph g)
    : graph(std::move(g)),
      costs(NodeCosts(graph)),
      cuts(CutPoints(graph)),
      units(TransferUnits(graph)),
      channels(FindChannelGroups(graph)),
      parameters(ParameterLayout(graph, units)),
      statistics(StatisticsLayout(graph, units)) {}

}  // namespace tributary
