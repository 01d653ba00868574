#include "tributary/coordinator/facts.h"

#include <gtest/gtest.h>

#include "tributary/experiment/presets.h"
#include "tributary/model/zoo.h"

namespace tributary {
namespace {

RunFacts Of(const std::string& preset) {
  const Experiment experiment = FindExperiment(preset, {}).value();
  const Model model(BuildZooGraph({"cnn", Shape{1, 28, 28}, 10, Stem::kAuto}).value());
  return FactsOf(experiment, model, true);
}

TEST(Facts, NameTheMechanismsInUse) {
  EXPECT_EQ(Of("smoke").mechanisms, std::vector<std::string>{});
  EXPECT_EQ(Of("distreal").mechanisms, std::vector<std::string>{"dropout"});
  EXPECT_EQ(Of("rcd-sgd").mechanisms, (std::vector<std::string>{"partition", "gossip"}));
  EXPECT_EQ(Of("scadles-s1").mechanisms, (std::vector<std::string>{"streams", "compression", "transfers"}));
  EXPECT_EQ(Of("psl-ugs").mechanisms, (std::vector<std::string>{"partition", "split"}));
}

TEST(Facts, HaveTheFrontAsSharesOfTheWholeNetwork) {
  const RunFacts facts = Of("distreal");
  ASSERT_GT(facts.front.size(), 2u);
  EXPECT_EQ(facts.front.back().cost, 1);
  EXPECT_GT(facts.front.front().cost, 0);
  EXPECT_LT(facts.front.front().cost, 0.3);
  EXPECT_EQ(facts.deadline, std::chrono::seconds(6));
}

TEST(Facts, KnowWhatAnUpdateTakesUncompressed) {
  const Model model(BuildZooGraph({"cnn", Shape{1, 28, 28}, 10, Stem::kAuto}).value());
  EXPECT_EQ(Of("smoke").dense_update.value,
            static_cast<std::int64_t>(4 * (model.parameters.size + model.statistics.size)));
}

}  // namespace
}  // namespace tributary
