
#include <gtest/gtest.h>

#include <numeric>

#include "tributary/model/model.h"
#include "tributary/model/zoo.h"

namespace tributary::inline model {
namespace {

TEST(UnitCosts, AddUpToTheNetwork) {
  for (const NetworkKind& entry : Zoo()) {
    SCOPED_TRACE(entry.name);
    const auto graph = BuildZooGraph({.name = std::string(entry.name)});
    ASSERT_TRUE(graph.ok());
    const Model model(*graph);
    const UnitCosts costs = CostsOfUnits(model);
    ASSERT_EQ(costs.macs.size(), model.units.size());
    EXPECT_EQ(std::accumulate(costs.macs.begin(), costs.macs.end(), 0.0),
              static_cast<double>(TotalMacs(model.costs).value));
    EXPECT_EQ(std::accumulate(costs.bytes.begin(), costs.bytes.end(), std::int64_t{0}),
              static_cast<std::int64_t>((model.parameters.size + model.statistics.size) * sizeof(float)));
    for (const Layout* layout : {&model.parameters, &model.statistics}) {
      std::size_t at = 0;
      for (std::size_t unit = 0; unit < model.units.size(); ++unit) {
        EXPECT_EQ(layout->Run(unit, unit).offset, at);
        at = layout->Run(unit, unit).end();
      }
      EXPECT_EQ(at, layout->size);
      EXPECT_EQ(layout->Run(0, model.units.size() - 1), (Segment{0, layout->size}));
    }
  }
}

}  // namespace

}  // namespace tributary::inline model
