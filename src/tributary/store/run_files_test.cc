#include "tributary/store/run_files.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tributary/store/testing_runs.h"
#include "tributary/telemetry/event_json.h"

namespace tributary::inline store {
namespace {

using namespace std::chrono_literals;

std::filesystem::path MakeRunFolder(const TestFolder& folder, const std::vector<Event>& events,
                                    const std::string& rest = "") {
  const std::filesystem::path path = folder / "some-run";
  std::filesystem::create_directories(path);
  std::ofstream log(path / "events.jsonl");
  for (const Event& event : events) log << EventToJson(event) << "\n";
  log << rest;
  std::ofstream(path / "experiment.toml") << "schema = 1\n";
  return path;
}

TEST(HistoryOfFolder, ReadsWhatARunHasLeft) {
  const TestFolder folder;
  const auto path = MakeRunFolder(folder, TestRun(5, 2));
  std::ofstream(path / "summary.json")
      << R"({"virtual_seconds": 1, "devices": [{"group": "a"}, {"group": "b"}]})";
  const auto history = HistoryOfFolder(path);
  ASSERT_TRUE(history.ok()) << history.status();
  EXPECT_EQ(history->run.name, "some-run");
  EXPECT_EQ(history->run.state, RunState::kFinished);
  EXPECT_TRUE(history->run.simulated);
  EXPECT_GT(history->run.started, 0s);
  EXPECT_EQ(history->rounds.size(), 5U);
  EXPECT_EQ(history->evaluations.size(), 5U);
  EXPECT_EQ(history->devices.at(1).group, "b");
}

TEST(HistoryOfFolder, ALastLineThatIsCutOffDoesNotCount) {
  const TestFolder folder;
  const auto path = MakeRunFolder(folder, TestRun(3, 2, /*finished=*/false), R"({"type":"round-star)");
  const auto history = HistoryOfFolder(path);
  ASSERT_TRUE(history.ok()) << history.status();
  EXPECT_EQ(history->run.state, RunState::kDied);
  EXPECT_EQ(history->rounds.size(), 3U);
}

TEST(HistoryOfFolder, SaysWhatIsWrong) {
  const TestFolder folder;
  EXPECT_EQ(HistoryOfFolder(folder / "none").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(HistoryOfFolder(MakeRunFolder(folder, {})).status().code(), StatusCode::kCorrupt);
  const auto bad = HistoryOfFolder(MakeRunFolder(folder, TestRun(1, 1), "nonsense\n"));
  EXPECT_EQ(bad.status().code(), StatusCode::kCorrupt);
  EXPECT_NE(bad.status().message().find("line 7"), std::string::npos) << bad.status();
}

TEST(HistoryOfFolder, AnyOtherFileMayBeAnything) {
  const TestFolder folder;
  const auto path = MakeRunFolder(folder, TestRun(1, 1));
  for (const char* const text : {"", "[", "[]", R"({"devices": 5})", R"({"devices": [1, {"group": 2}]})"}) {
    std::ofstream(path / "summary.json") << text;
    EXPECT_TRUE(HistoryOfFolder(path).ok()) << text;
  }
}

}  // namespace
}  // namespace tributary::inline store
