#include "tributary/reproduce/reproduction.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tributary::inline reproduce {
namespace {

Reproduction Valid() {
  Reproduction reproduction;
  reproduction.name = "test";
  reproduction.arms = {{"base", "", ""}, {"vgg19-optimal", "", ""}};
  reproduction.metrics = {{"time", "s", Metric::Better::kLower, {}}};
  reproduction.comparisons = {
      {"saved", "time", BaselineComparison::Kind::kSaving, AgainstOne(reproduction.arms, "base"), {1, true}}};
  reproduction.published = {{"vgg19-optimal", "saved", 0.411, "abstract"}};
  reproduction.figure_charts = {
      {"time", "Time saved", "time", "saved", "s", "share", {{"both", {"base", "vgg19-optimal"}}}}};
  return reproduction;
}

std::string MessageFor(void (*change)(Reproduction&)) {
  Reproduction reproduction = Valid();
  change(reproduction);
  return CheckReproduction(reproduction).message();
}

TEST(Reproduction, AgainstOneLeavesOutTheBaseline) {
  EXPECT_EQ(Valid().comparisons[0].baselines,
            (std::map<std::string, std::string>{{"vgg19-optimal", "base"}}));
}

TEST(Reproduction, ChecksNamesAndReferences) {
  EXPECT_TRUE(CheckReproduction(Valid()).ok());
  const auto expect = [](void (*change)(Reproduction&), const std::string& part) {
    const std::string message = MessageFor(change);
    EXPECT_NE(message.find(part), std::string::npos) << message;
    EXPECT_EQ(message.rfind("reproduction 'test': ", 0), 0U) << message;
  };
  EXPECT_NE(MessageFor([](Reproduction& r) { r.name = "../test"; }).find("cannot be part of a file's name"),
            std::string::npos);
  expect([](Reproduction& r) { r.arms.clear(); }, "no arms");
  expect([](Reproduction& r) { r.metrics.clear(); }, "no metrics");
  for (auto* change :
       {+[](Reproduction& r) { r.arms[0].name = ""; }, +[](Reproduction& r) { r.arms[0].name = "a/b"; },
        +[](Reproduction& r) { r.arms[0].name = ".hidden"; },
        +[](Reproduction& r) { r.arms[0].name = std::string(65, 'a'); }}) {
    expect(change, "cannot be part of a file's name");
  }
  expect([](Reproduction& r) { r.arms[0].name = r.arms[1].name; }, "used twice");
  expect([](Reproduction& r) { r.comparisons[0].name = "time"; }, "used twice");
  expect([](Reproduction& r) { r.comparisons[0].metric = "tmie"; }, "did you mean 'time'");
  expect([](Reproduction& r) { r.comparisons[0].baselines["base"] = "nobody"; }, "unknown arm 'nobody'");
  expect([](Reproduction& r) { r.comparisons[0].format.decimals = 99; }, "99 decimals");
  expect([](Reproduction& r) { r.published[0].figure = "saves"; }, "did you mean 'saved'");
  expect([](Reproduction& r) { r.published[0].value = std::nan(""); }, "is not a number");
  expect([](Reproduction& r) { r.published.push_back(r.published[0]); }, "two values are published");
  expect([](Reproduction& r) { r.chart.references = {{std::nan(""), ""}}; }, "reference line");
  expect([](Reproduction& r) { r.figure_charts[0].file = "../time"; }, "cannot be a file's name");
  expect([](Reproduction& r) { r.figure_charts[0].file = "curves"; }, "used twice");
  expect([](Reproduction& r) { r.figure_charts[0].x = "tmie"; }, "did you mean 'time'");
  expect([](Reproduction& r) { r.figure_charts[0].y = "saves"; }, "did you mean 'saved'");
  expect([](Reproduction& r) { r.figure_charts[0].lines[0].arms[1] = "nobody"; }, "unknown arm 'nobody'");
  expect([](Reproduction& r) { r.arms[0].fingerprint = std::string(100'000, 'x'); }, "give a digest");
}

}  // namespace
}  // namespace tributary::inline reproduce
