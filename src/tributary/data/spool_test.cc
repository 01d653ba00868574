#include "tributary/data/spool.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>

#include "tributary/base/rng.h"

namespace tributary::inline data {
namespace {

class SpoolTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "spool_test.XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Spool Open(Bytes limit = {0}) {
    auto spool = Spool::Open({.folder = folder_, .limit = limit, .segment = Bytes{500}});
    EXPECT_TRUE(spool.ok()) << spool.status();
    return std::move(*spool);
  }
  static SpoolEntry Entry(std::int64_t position, std::size_t size = 60) {
    return {.position = position,
            .predecessor = position - 1,
            .tally = 2 * position,
            .bytes = std::vector<std::byte>(size, static_cast<std::byte>(position))};
  }
  static std::vector<std::int64_t> Positions(Spool& spool) {
    std::vector<std::int64_t> positions;
    while (true) {
      auto next = spool.Next();
      EXPECT_TRUE(next.ok()) << next.status();
      if (!next.ok() || !next->has_value()) return positions;
      EXPECT_EQ(**next, Entry((*next)->position, (*next)->bytes.size()));
      positions.push_back((*next)->position);
    }
  }
  std::size_t Files() const {
    std::size_t count = 0;
    for (const auto& file : std::filesystem::directory_iterator(folder_))
      count += file.path().extension() == ".spool";
    return count;
  }

  std::filesystem::path folder_;
};

TEST_F(SpoolTest, IsItsOwnersAlone) {
  const auto made = folder_ / "new";
  const mode_t before = ::umask(0);
  auto spool = Spool::Open({.folder = made});
  EXPECT_TRUE(spool.ok() && spool->Append(Entry(1)).ok());
  ::umask(before);
  EXPECT_EQ(std::filesystem::status(made).permissions(), std::filesystem::perms(0700));
  for (const auto& file : std::filesystem::directory_iterator(made)) {
    EXPECT_EQ(file.status().permissions(), std::filesystem::perms(0600)) << file;
  }
}

TEST_F(SpoolTest, GivesBackWhatWasAppendedInOrder) {
  Spool spool = Open();
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(spool.Append(Entry(3 * i)).ok());
  EXPECT_EQ(spool.unread(), 50);
  EXPECT_GT(Files(), 5U);
  const auto positions = Positions(spool);
  ASSERT_EQ(positions.size(), 50U);
  EXPECT_EQ(positions[49], 147);
  EXPECT_EQ(spool.unread(), 0);
  ASSERT_TRUE(spool.Append(Entry(200)).ok());
  EXPECT_EQ(Positions(spool), std::vector<std::int64_t>{200});
}

TEST_F(SpoolTest, FindsItAgainLessWhatWasReleased) {
  {
    Spool spool = Open();
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(spool.Append(Entry(i)).ok());
    Positions(spool);
    ASSERT_TRUE(spool.Release(12).ok());
    EXPECT_EQ(spool.first(), 13);
  }
  Spool spool = Open();
  EXPECT_EQ(spool.released(), 12);
  EXPECT_EQ(spool.last(), 19);
  EXPECT_EQ(spool.tally(), 38);
  EXPECT_EQ(Positions(spool), (std::vector<std::int64_t>{13, 14, 15, 16, 17, 18, 19}));
  spool.Rewind(17);
  EXPECT_EQ(Positions(spool), (std::vector<std::int64_t>{17, 18, 19}));
}

TEST_F(SpoolTest, DeletesFilesThatAreNotNeeded) {
  Spool spool = Open();
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(spool.Append(Entry(i)).ok());
    if (i >= 10) {
      ASSERT_TRUE(spool.Release(i - 10).ok());
    }
    ASSERT_LE(Files(), 5U);
  }
  ASSERT_TRUE(spool.Release(99).ok());
  EXPECT_EQ(Files(), 0U);
  EXPECT_EQ(spool.bytes(), Bytes{0});
  EXPECT_TRUE(spool.empty());
}

TEST_F(SpoolTest, RemembersItsLastNumberWhenAllIsReleased) {
  {
    Spool spool = Open();
    ASSERT_TRUE(spool.Append(Entry(41)).ok());
    ASSERT_TRUE(spool.Release(41).ok());
  }
  Spool spool = Open();
  EXPECT_EQ(spool.last(), 41);
  EXPECT_EQ(spool.tally(), 82);
  EXPECT_TRUE(spool.empty());
}

TEST_F(SpoolTest, DropsALastEntryThatWasCutAnywhere) {
  for (std::uintmax_t cut = 1; cut < 92; ++cut) {
    std::filesystem::remove_all(folder_);
    {
      Spool spool = Open();
      ASSERT_TRUE(spool.Append(Entry(1)).ok());
      ASSERT_TRUE(spool.Append(Entry(2)).ok());
    }
    const auto file = folder_ / "1.spool";
    std::filesystem::resize_file(file, std::filesystem::file_size(file) - cut);
    Spool spool = Open();
    EXPECT_FALSE(spool.damage().empty());
    EXPECT_EQ(spool.last(), 1);
    ASSERT_TRUE(spool.Append(Entry(2)).ok());
    ASSERT_EQ(Positions(spool), (std::vector<std::int64_t>{1, 2})) << cut;
  }
}

TEST_F(SpoolTest, NoticesEveryChangedByte) {
  {
    Spool spool = Open();
    ASSERT_TRUE(spool.Append(Entry(1)).ok());
  }
  const auto file = folder_ / "1.spool";
  const auto size = static_cast<std::streamoff>(std::filesystem::file_size(file));
  for (std::streamoff at = 0; at < size; ++at) {
    std::filesystem::copy_file(file, folder_ / "kept", std::filesystem::copy_options::overwrite_existing);
    {
      std::fstream change(file, std::ios::in | std::ios::out | std::ios::binary);
      change.seekg(at);
      const int byte = change.get();
      change.seekp(at);
      change.put(static_cast<char>(byte ^ 0x40));
    }
    {
      Spool spool = Open();
      ASSERT_TRUE(spool.empty()) << at;
    }
    std::filesystem::copy_file(folder_ / "kept", file, std::filesystem::copy_options::overwrite_existing);
  }
}

TEST_F(SpoolTest, TellsOfBytesThatChangeUnderIt) {
  Spool spool = Open();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(spool.Append(Entry(i)).ok());
  std::fstream(folder_ / "1.spool", std::ios::in | std::ios::out | std::ios::binary).seekp(100).put('x');
  EXPECT_EQ((*spool.Next())->position, 0);
  EXPECT_EQ(spool.Next().status().code(), StatusCode::kCorrupt);
  EXPECT_EQ((*spool.Next())->position, 2);
}

TEST_F(SpoolTest, RefusesMoreThanItsLimitAndChangesNothing) {
  Spool spool = Open(Bytes{300});
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(spool.Append(Entry(i)).ok());
  EXPECT_EQ(spool.Append(Entry(3)).code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(spool.last(), 2);
  Positions(spool);
  ASSERT_TRUE(spool.Release(2).ok());
  EXPECT_TRUE(spool.Append(Entry(3)).ok());
}

TEST_F(SpoolTest, BelongsToOneAtATime) {
  const Spool spool = Open();
  EXPECT_EQ(Spool::Open({.folder = folder_}).status().code(), StatusCode::kUnavailable);
}

}  // namespace
}  // namespace tributary::inline data
