#include "tributary/cli/model_report.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "tributary/base/text_table.h"

namespace tributary {

using Json = nlohmann::ordered_json;

Json ShapeJson(const Shape& shape) {
  if (shape.flat) return Json::array({shape.channels});
  return Json::array({shape.channels, shape.height, shape.width});
}

Json ModelJson(const Model& model) {
  Json layers = Json::array();
  for (NodeIndex i = 1; i < model.graph.size(); ++i) {
    const Node& node = model.graph.node(i);
    const NodeCost& cost = model.costs[i];
    layers.push_back({{"name", node.name},
                      {"kind", KindName(node.operation)},
                      {"output", ShapeJson(model.graph.shape(i))},
                      {"parameters", cost.parameters},
                      {"macs", cost.macs.value},
                      {"bytes", cost.output.value},
                      {"cut", static_cast<bool>(model.cuts[i])}});
  }
  return {{"name", model.graph.name()},           {"input", ShapeJson(model.graph.input_shape())},
          {"classes", model.graph.classes()},     {"parameters", TotalParameters(model.costs)},
          {"macs", TotalMacs(model.costs).value}, {"layers", layers}};
}

void PrintModel(const Model& model) {
  TextTable table({"layer", "kind", "output", "parameters", "MACs", "output bytes", "cut"});
  int cuts = 0;
  for (NodeIndex i = 1; i < model.graph.size(); ++i) {
    const Node& node = model.graph.node(i);
    const NodeCost& cost = model.costs[i];
    table.AddRow({node.name, std::string(KindName(node.operation)), FormatShape(model.graph.shape(i)),
                  cost.parameters > 0 ? FormatThousands(cost.parameters) : "",
                  cost.macs.value > 0 ? FormatThousands(cost.macs.value) : "",
                  FormatThousands(cost.output.value), model.cuts[i] ? "yes" : "."});
    cuts += model.cuts[i] ? 1 : 0;
  }
  std::fputs(table.Format().c_str(), stdout);
  std::printf(
      "\n%s for %s and %lld classes: %s parameters (%s), %s MACs a sample,\n"
      "%zu transfer units, %zu channel groups, %d places to cut\n",
      model.graph.name().c_str(), FormatShape(model.graph.input_shape()).c_str(),
      static_cast<long long>(model.graph.classes()), FormatThousands(TotalParameters(model.costs)).c_str(),
      FormatBytes(Bytes{4 * TotalParameters(model.costs)}).c_str(),
      FormatCount(static_cast<double>(TotalMacs(model.costs).value)).c_str(), model.units.size(),
      model.channels.groups.size(), cuts);
}

}  // namespace tributary
