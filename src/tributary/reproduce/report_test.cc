#include "tributary/reproduce/report.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tributary/base/file.h"

namespace tributary::inline reproduce {
namespace {

Reproduction Example() {
  Reproduction reproduction;
  reproduction.name = "example";
  reproduction.about = "Two ways to train.";
  reproduction.arms = {{"base", "the usual | way", ""}, {"new", "", ""}, {"never-run", "", ""}};
  reproduction.metrics = {{"accuracy", "", Metric::Better::kHigher, {1, true}},
                          {"time", "s", Metric::Better::kLower, {0, false}}};
  reproduction.comparisons = {{"speed-up", "time", BaselineComparison::Kind::kSpeedUp,
                               AgainstOne(reproduction.arms, "base"), NumberFormat{2, false}}};
  reproduction.published = {{"new", "speed-up", 1.89, "Table 2"},
                            {"base", "accuracy", 0.913, "Figure 5"},
                            {"new", "accuracy", 0.93, "Figure 5"}};
  reproduction.chart = {"Accuracy", "virtual time (s)", "accuracy", false, {{0.9, "target"}}};
  reproduction.notes = {"Ours is smaller than the paper's."};
  return reproduction;
}

std::vector<ArmResult> Results() {
  const auto result = [](const std::string& arm, std::uint64_t seed, double took, double accuracy,
                         std::optional<double> time) {
    ArmResult one{arm, seed, "", FromSeconds(took), {{{"accuracy", accuracy}}, {{0, 0.1}, {100, accuracy}}}};
    if (time.has_value()) one.measurement.numbers["time"] = *time;
    return one;
  };
  return {result("base", 1, 3, 0.90, 100), result("base", 2, 4, 0.92, 120), result("base", 3, 5, 0.91, 110),
          result("new", 1, 6, 0.93, 50),   result("new", 2, 7, 0.94, 60),   result("new", 3, 8, 0.92, {})};
}

TEST(TextReport, ShowsOursBesideThePublished) {
  const std::string text = FormatTextReport(Example(), Summarise(Example(), Results()));
  EXPECT_EQ(text,
            "arm        accuracy (%) ↑  published       time (s) ↓              speed-up  published\n"
            "base       91.0 ± 1.0 (3)       91.3     110 ± 10 (3)                     –          –\n"
            "new        93.0 ± 1.0 (3)       93.0  55 ± 7 (2 of 3)  2.00 ± 0.00 (2 of 3)       1.89\n"
            "never-run               –          –                –                     –          –\n"
            "\n"
            "Mean ± standard deviation over seeds, and in brackets how many runs have the figure. "
            "Seeds 1, 2, 3.\n"
            "Published: Table 2: speed-up of new.\n"
            "Published: Figure 5: accuracy of base, new.\n"
            "Ours is smaller than the paper's.\n");
}

TEST(MarkdownReport, IsADocument) {
  const std::string text = FormatMarkdownReport(Example(), Summarise(Example(), Results()));
  EXPECT_EQ(text,
            "# example\n\nTwo ways to train.\n\n"
            "| arm | accuracy (%) ↑ | published | time (s) ↓ | speed-up | published |\n"
            "|---|---:|---:|---:|---:|---:|\n"
            "| base | 91.0 ± 1.0 (3) | 91.3 | 110 ± 10 (3) | – | – |\n"
            "| new | 93.0 ± 1.0 (3) | 93.0 | 55 ± 7 (2 of 3) | 2.00 ± 0.00 (2 of 3) | 1.89 |\n"
            "| never-run | – | – | – | – | – |\n\n"
            "Mean ± standard deviation over seeds, and in brackets how many runs have the figure. "
            "Seeds 1, 2, 3.\n\n"
            "- base: the usual \\| way\n- new\n- never-run\n\n"
            "Published figures:\n\n- Table 2: speed-up of new\n- Figure 5: accuracy of base, new\n\n"
            "Ours is smaller than the paper's.\n");
}

TEST(TextReport, SaysWhenNothingHasRun) {
  const std::string text = FormatTextReport(Example(), Summarise(Example(), {}));
  EXPECT_NE(text.find("No run has finished."), std::string::npos);
}

TEST(JsonReport, HasEveryFigureUnrounded) {
  const auto json = nlohmann::json::parse(FormatJsonReport(Example(), Summarise(Example(), Results())));
  EXPECT_EQ(json["reproduction"], "example");
  EXPECT_EQ(json["seeds"], nlohmann::json::parse("[1,2,3]"));
  const auto& arm = json["arms"][1];
  EXPECT_EQ(arm["name"], "new");
  EXPECT_EQ(arm["runs"], 3);
  EXPECT_EQ(arm["metrics"]["time"]["n"], 2);
  EXPECT_EQ(arm["metrics"]["time"]["mean"], 55.0);
  EXPECT_EQ(arm["metrics"]["time"]["min"], 50.0);
  EXPECT_EQ(arm["metrics"]["accuracy"]["published"]["value"], 0.93);
  EXPECT_EQ(arm["comparisons"]["speed-up"]["baseline"], "base");
  EXPECT_EQ(arm["comparisons"]["speed-up"]["mean"], 2.0);
  EXPECT_EQ(arm["comparisons"]["speed-up"]["published"]["where"], "Table 2");
  EXPECT_FALSE(json["arms"][0]["comparisons"].contains("speed-up"));
  EXPECT_EQ(json["arms"][2]["metrics"]["time"]["n"], 0);
}

TEST(FormatFigure, RoundsWithoutASignOnZero) {
  EXPECT_EQ(FormatFigure(-0.0004, {2, false}), "0.00");
  EXPECT_EQ(FormatFigure(-0.4, {2, true}), "-40.00");
  EXPECT_EQ(FormatFigure(1e18, {9, true}), "100000000000000000000.000000000");
  EXPECT_EQ(FormatSpread({1, 2.5, std::nullopt, 2.5, 2.5}, 1, {1, false}), "2.5 (1)");
}

class WriteReportTest : public testing::Test {
 protected:
  WriteReportTest() { std::filesystem::create_directories(folder_); }
  ~WriteReportTest() override { std::filesystem::remove_all(folder_); }

  std::string Text(const char* name) const {
    const auto bytes = ReadFile(folder_ / name, Bytes{1 << 20});
    if (!bytes.ok()) return "";
    return {reinterpret_cast<const char*>(bytes->data()), bytes->size()};
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("tributary_report_test_" + std::to_string(::getpid()));
};

TEST_F(WriteReportTest, GivesTheSameBytesForTheSameResults) {
  std::vector<ArmResult> results = Results();
  ASSERT_TRUE(WriteReport(Example(), results, folder_).ok());
  const std::string json = Text("summary.json"), table = Text("table.md"), curves = Text("curves.svg");
  EXPECT_NE(curves.find(">new (3 seeds)</text>"), std::string::npos);
  EXPECT_NE(curves.find(">accuracy, mean and range over seeds</text>"), std::string::npos);
  EXPECT_NE(curves.find(">target</text>"), std::string::npos);
  std::reverse(results.begin(), results.end());
  for (ArmResult& result : results) result.took *= 2;
  ASSERT_TRUE(WriteReport(Example(), results, folder_).ok());
  EXPECT_EQ(Text("summary.json"), json);
  EXPECT_EQ(Text("table.md"), table);
  EXPECT_EQ(Text("curves.svg"), curves);
}

TEST_F(WriteReportTest, DrawsFigures) {
  Reproduction reproduction = Example();
  reproduction.figure_charts = {
      {"trade-off", "Time", "time", "accuracy", "s", "share", {{"line", {"base", "new"}}}}};
  ASSERT_TRUE(WriteReport(reproduction, Results(), folder_).ok());
  EXPECT_NE(Text("trade-off.svg").find(">share, mean and range over seeds</text>"), std::string::npos);
  ASSERT_TRUE(WriteReport(reproduction, {}, folder_).ok());
  EXPECT_FALSE(std::filesystem::exists(folder_ / "trade-off.svg"));
}

TEST_F(WriteReportTest, RemovesAPictureOfOtherCurves) {
  std::vector<ArmResult> results = Results();
  ASSERT_TRUE(WriteReport(Example(), results, folder_).ok());
  for (ArmResult& result : results) result.measurement.curve.clear();
  ASSERT_TRUE(WriteReport(Example(), results, folder_).ok());
  EXPECT_FALSE(std::filesystem::exists(folder_ / "curves.svg"));
  EXPECT_FALSE(WriteReport(Example(), results, folder_ / "missing").ok());
}

}  // namespace
}  // namespace tributary::inline reproduce
