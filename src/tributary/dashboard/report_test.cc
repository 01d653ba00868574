#include "tributary/dashboard/report.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "tributary/base/file.h"
#include "tributary/dashboard/testing_events.h"
#include "tributary/telemetry/sink.h"

namespace tributary::inline dashboard {
namespace {

class ReportTest : public ::testing::Test {
 protected:
  ReportTest()
      : folder_(::testing::TempDir() + "report_test_" +
                ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  const std::filesystem::path folder_;
};

TEST_F(ReportTest, ReadsWhatTheRunItselfHadAddedUp) {
  RunMetadata metadata;
  metadata.devices = {{"a", "", {1, 2}}, {"b", "", {3, 4}}};
  Board live;
  live.Describe(metadata);
  ASSERT_TRUE(WriteFileAtomically(folder_ / "facts.json", FormatRunMetadata(metadata)).ok());
  const auto log = JsonLinesSink::Create(folder_ / "events.jsonl").value();
  struct Both {
    Board& board;
    EventSink& log;
    void Write(const Event& event) {
      board.Write(event);
      log.Write(event);
    }
  } both{live, *log};
  both.Write(Started(2));
  for (std::uint64_t round = 1; round <= 5; ++round) PlayRound(both, round, 2, static_cast<double>(round));
  both.Write(At(6, RunFinished{5, RunEnd::kRounds, 0.5}));
  ASSERT_TRUE(log->Close().ok());
  EXPECT_EQ(BoardJson(ReadBoard(folder_).value()), BoardJson(live));

  // One that is cut off in the middle of a line is read up to it.
  std::ofstream(folder_ / "events.jsonl", std::ios::app) << "{\"type\":\"round-st";
  EXPECT_EQ(BoardJson(ReadBoard(folder_).value()), BoardJson(live));
}

TEST_F(ReportTest, SaysWhatIsMissingOrWrong) {
  EXPECT_EQ(ReadBoard(folder_).status().code(), StatusCode::kNotFound);
  std::ofstream(folder_ / "events.jsonl") << "nonsense\n";
  EXPECT_EQ(ReadBoard(folder_).status().code(), StatusCode::kCorrupt);
  std::ofstream(folder_ / "events.jsonl", std::ios::trunc) << "";
  EXPECT_TRUE(ReadBoard(folder_).ok());
  std::ofstream(folder_ / "facts.json") << "{}";
  EXPECT_EQ(ReadBoard(folder_).status().code(), StatusCode::kCorrupt);
}

TEST_F(ReportTest, WritesOneFile) {
  if (DashboardPage().empty()) {
    ASSERT_EQ(std::getenv("CI"), nullptr) << "nothing may be skipped in CI";
    GTEST_SKIP() << "SKIPPED: reports (the page was built without Node)";
  }
  Board board;
  board.Write(Started(2));
  ASSERT_TRUE(WriteReport(folder_ / "report.html", board).ok());
  const auto bytes = ReadFile(folder_ / "report.html", Bytes{100'000'000}).value();
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  EXPECT_NE(text.find("\"experiment\":\"test\""), std::string::npos);
}

}  // namespace
}  // namespace tributary::inline dashboard
