#include "tributary/fleet/protocol/update_journal.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <numeric>

namespace tributary::inline protocol {
namespace {

struct Kept {
  UpdatePart part;
  std::size_t offset;
  std::vector<float> values;
  friend bool operator==(const Kept&, const Kept&) = default;
};

class UpdateJournalTest : public testing::Test {
 protected:
  UpdateJournalTest() { std::filesystem::create_directories(folder_); }
  ~UpdateJournalTest() override { std::filesystem::remove_all(folder_); }

  Status Append(UpdateJournal& journal, UpdatePart part, std::size_t offset, std::size_t count) {
    Kept kept{part, offset, std::vector<float>(count)};
    std::iota(kept.values.begin(), kept.values.end(), next_);
    next_ += static_cast<float>(count);
    const Status status = journal.Append({part, offset, kept.values});
    if (status.ok()) expected_.push_back(std::move(kept));
    return status;
  }
  static std::vector<Kept> Drain(UpdateJournal& journal) {
    std::vector<Kept> drained;
    const Status status = journal.Drain([&](const UpdatePiece& piece) {
      drained.push_back({piece.part, piece.offset, {piece.values.begin(), piece.values.end()}});
    });
    EXPECT_TRUE(status.ok()) << status;
    return drained;
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("tributary_journal_" + std::to_string(::getpid()));
  std::vector<Kept> expected_;
  float next_ = 1;
};

TEST_F(UpdateJournalTest, HandsBackLittleFromMemory) {
  UpdateJournal journal("/no/such/folder");  // Not needed.
  ASSERT_TRUE(Append(journal, UpdatePart::kParameters, 100, 5000).ok());
  ASSERT_TRUE(Append(journal, UpdatePart::kStatistics, 0, 7).ok());
  EXPECT_EQ(Drain(journal), expected_);
  EXPECT_TRUE(Drain(journal).empty());
}

TEST_F(UpdateJournalTest, HandsBackMuchFromAFileWithoutAName) {
  UpdateJournal journal(folder_);
  for (std::size_t i = 0; i < 10; ++i)
    ASSERT_TRUE(Append(journal, UpdatePart::kParameters, i * 65536, 65536).ok());
  ASSERT_TRUE(Append(journal, UpdatePart::kStatistics, 0, 1).ok());
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
  EXPECT_EQ(Drain(journal), expected_);
}

TEST_F(UpdateJournalTest, HandsBackWhatIsPartlyInMemory) {
  UpdateJournal journal(folder_);
  for (const std::size_t count : {1, 16383, 1, 40000, 2}) {
    ASSERT_TRUE(Append(journal, UpdatePart::kParameters, 0, count).ok());
  }
  EXPECT_EQ(Drain(journal), expected_);
  expected_.clear();
  ASSERT_TRUE(Append(journal, UpdatePart::kStatistics, 3, 20000).ok());  // It can be used again.
  EXPECT_EQ(Drain(journal), expected_);
}

TEST_F(UpdateJournalTest, RefusesWhatItCannotWriteAndKeepsTheRest) {
  UpdateJournal journal(folder_ / "missing");
  ASSERT_TRUE(Append(journal, UpdatePart::kParameters, 0, 100).ok());
  const Status status = Append(journal, UpdatePart::kParameters, 100, 20000);
  EXPECT_EQ(status.code(), StatusCode::kIoError);
  EXPECT_NE(status.message().find((folder_ / "missing").string()), std::string::npos) << status;
  EXPECT_EQ(Drain(journal), expected_);
}

TEST_F(UpdateJournalTest, SurvivesAFullDisk) {
  struct rlimit before {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit small = before;
  small.rlim_cur = 300'000;  // In the middle of the second piece.
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  UpdateJournal journal(folder_);
  const Status first = Append(journal, UpdatePart::kParameters, 0, 65536);
  const Status second = Append(journal, UpdatePart::kParameters, 65536, 65536);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_TRUE(first.ok()) << first;
  EXPECT_EQ(second.code(), StatusCode::kIoError);
  EXPECT_EQ(Drain(journal), expected_);
}

}  // namespace
}  // namespace tributary::inline protocol
