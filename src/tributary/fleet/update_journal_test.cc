#include "tributary/fleet/update_journal.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <numeric>

#include "tributary/policy/compression/encoding.h"

namespace tributary::inline fleet {
namespace {

constexpr WorkId kWork{4};

struct KeptPiece {
  UpdatePart part;
  std::size_t offset;
  std::vector<float> values;
  friend bool operator==(const KeptPiece&, const KeptPiece&) = default;
};

class UpdateJournalTest : public testing::Test {
 protected:
  UpdateJournalTest() { std::filesystem::create_directories(folder_); }
  ~UpdateJournalTest() override { std::filesystem::remove_all(folder_); }

  Status Append(UpdateJournal& journal, UpdatePart part, std::size_t offset, std::size_t count) {
    KeptPiece kept{part, offset, std::vector<float>(count)};
    std::iota(kept.values.begin(), kept.values.end(), next_);
    next_ += static_cast<float>(count);
    const Status status = journal.Append(kWork, {part, offset, kept.values, 3});
    if (status.ok()) expected_.push_back(std::move(kept));
    return status;
  }
  static std::vector<KeptPiece> Drain(UpdateJournal& journal) {
    std::vector<KeptPiece> drained;
    const Status status = journal.ForEach(kWork, [&](const UpdatePiece& piece) {
      EXPECT_EQ(piece.weight, 3);
      drained.push_back({piece.part, piece.offset, {piece.values.begin(), piece.values.end()}});
    });
    EXPECT_TRUE(status.ok()) << status;
    journal.Remove(kWork);
    return drained;
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("tributary_journal_" + std::to_string(::getpid()));
  std::vector<KeptPiece> expected_;
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

TEST_F(UpdateJournalTest, KeepsUpdatesApartAndReadsAnyRangeOfThem) {
  UpdateJournal journal(folder_);
  const auto value = [](std::uint64_t work, std::size_t i) {
    return static_cast<float>(work * 1'000'000 + i);
  };
  constexpr std::size_t kSize = 60'000, kPiece = 7'000;  // The first two pieces stay in memory.
  for (std::size_t begin = 0; begin < kSize; begin += kPiece) {
    for (std::uint64_t work = 0; work < 3; ++work) {
      std::vector<float> values(std::min(kPiece, kSize - begin));
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = value(work, begin + i);
      ASSERT_TRUE(journal.Append(WorkId{work}, {UpdatePart::kParameters, begin, values, 1}).ok());
    }
  }
  journal.Remove(WorkId{1});
  for (const std::uint64_t work : {0, 2}) {
    for (const std::size_t offset : {0, 6'990, 13'999, 35'000, 59'000}) {
      std::vector<float> found(1'000);
      ASSERT_TRUE(journal.Read(WorkId{work}, UpdatePart::kParameters, offset, found).ok());
      for (std::size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], value(work, offset + i)) << i;
    }
  }
  std::vector<float> untouched(5, -1);
  ASSERT_TRUE(journal.Read(WorkId{1}, UpdatePart::kParameters, 0, untouched).ok());
  ASSERT_TRUE(journal.Read(WorkId{0}, UpdatePart::kStatistics, 0, untouched).ok());
  EXPECT_EQ(untouched, std::vector<float>(5, -1));
}

TEST_F(UpdateJournalTest, ReadsEncodedPiecesInPart) {
  UpdateJournal journal(folder_);
  std::vector<float> values(50'000);
  std::iota(values.begin(), values.end(), 1.0F);
  std::vector<std::byte> encoded;
  AppendDense(values, encoded);
  ASSERT_TRUE(journal.Append(kWork, {UpdatePart::kParameters, 100, values, 1, encoded}).ok());
  std::vector<float> found(300, -1);
  ASSERT_TRUE(journal.Read(kWork, UpdatePart::kParameters, 0, found).ok());
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i], i < 100 ? -1 : static_cast<float>(i - 99)) << i;
  }
}

}  // namespace
}  // namespace tributary::inline fleet
