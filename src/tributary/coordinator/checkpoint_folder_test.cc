#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <set>

#include "tributary/base/file.h"
#include "tributary/coordinator/checkpoint.h"

namespace tributary::inline coordinator {
namespace {

class CheckpointFolderTest : public testing::Test {
 protected:
  CheckpointFolderTest() {
    std::string name = (std::filesystem::temp_directory_path() / "checkpoints.XXXXXX").string();
    parent_ = ::mkdtemp(name.data());
  }
  ~CheckpointFolderTest() override { std::filesystem::remove_all(parent_); }

  Status Save(std::uint64_t round, std::size_t keep = 2) {
    const std::vector<SafetensorsSource> arrays = {{"parameters", {1000}, values_}};
    return SaveCheckpoint(folder(), {.progress = {.round = round}}, arrays, keep);
  }
  std::set<std::string> Names() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder())) {
      names.insert(entry.path().filename().string());
    }
    return names;
  }
  std::filesystem::path folder() const { return parent_ / "checkpoints"; }

  std::filesystem::path parent_;
  const std::vector<float> values_ = std::vector<float>(1000, 1);
};

using Set = std::set<std::string>;

TEST_F(CheckpointFolderTest, KeepsTheNewest) {
  for (const std::uint64_t round : {1, 2, 10, 11}) ASSERT_TRUE(Save(round).ok());
  EXPECT_EQ(Names(), (Set{"round-00000010.checkpoint", "round-00000011.checkpoint"}));
  ASSERT_TRUE(Save(123'456'789, 3).ok());
  ASSERT_TRUE(Save(123'456'789, 3).ok());  // again
  EXPECT_EQ(Names().size(), 3U);
  const auto newest = LoadNewestCheckpoint(folder());
  ASSERT_TRUE(newest.ok() && newest->file);
  EXPECT_EQ(newest->file->checkpoint().progress.round, 123'456'789U);
  EXPECT_TRUE(newest->problems.empty());
  ASSERT_TRUE(Save(123'456'790, 1).ok());
  EXPECT_EQ(Names(), Set{"round-123456790.checkpoint"});
}

TEST_F(CheckpointFolderTest, NoCheckpointsAreNoFailure) {
  const auto none = LoadNewestCheckpoint(folder());
  ASSERT_TRUE(none.ok()) << none.status();
  EXPECT_FALSE(none->file);
}

TEST_F(CheckpointFolderTest, ACorruptNewestOneIsReportedAndTheOneBeforeIsUsed) {
  ASSERT_TRUE(Save(1).ok());
  ASSERT_TRUE(Save(2).ok());
  const auto path = folder() / "round-00000002.checkpoint";
  std::filesystem::resize_file(path, 100);
  auto newest = LoadNewestCheckpoint(folder());
  ASSERT_TRUE(newest.ok() && newest->file) << newest.status();
  EXPECT_EQ(newest->file->checkpoint().progress.round, 1U);
  ASSERT_EQ(newest->problems.size(), 1U);
  EXPECT_TRUE(newest->problems[0].starts_with("the checkpoint " + path.string() + ": "))
      << newest->problems[0];
  // It neither counts as one of those kept nor comes up again.
  ASSERT_TRUE(Save(3).ok());
  EXPECT_EQ(Names(), (Set{"round-00000001.checkpoint", "round-00000002.checkpoint.unreadable",
                          "round-00000003.checkpoint"}));
  newest = LoadNewestCheckpoint(folder());
  EXPECT_TRUE(newest.ok() && newest->problems.empty());
}

TEST_F(CheckpointFolderTest, FailsWhereNoneCanBeReadAndLeavesThem) {
  ASSERT_TRUE(Save(1).ok());
  ASSERT_TRUE(Save(2).ok());
  std::filesystem::resize_file(folder() / "round-00000002.checkpoint", 0);
  std::filesystem::rename(folder() / "round-00000001.checkpoint", folder() / "round-00000003.checkpoint");
  const auto newest = LoadNewestCheckpoint(folder());
  EXPECT_EQ(newest.status().code(), StatusCode::kCorrupt);
  EXPECT_EQ(newest.status().message(), "none of the 2 checkpoints in " + folder().string() +
                                           " can be read; the newest: the checkpoint " +
                                           (folder() / "round-00000003.checkpoint").string() +
                                           " is one of round 1");
  EXPECT_EQ(Names(), (Set{"round-00000002.checkpoint", "round-00000003.checkpoint"}));
}

TEST_F(CheckpointFolderTest, ClearsAwayTemporaryFilesAndNothingElse) {
  ASSERT_TRUE(Save(1).ok());
  for (const char* name : {".round-00000002.checkpoint.AbC123", ".round-00000002.checkpoint.backup-",
                           "notes.txt", "round-2.checkpoint", ".other.AbC123"}) {
    ASSERT_TRUE(WriteFileAtomically(folder() / name, "x").ok());
  }
  ASSERT_TRUE(LoadNewestCheckpoint(folder()).ok());
  EXPECT_EQ(Names(), (Set{"round-00000001.checkpoint", ".round-00000002.checkpoint.backup-", "notes.txt",
                          "round-2.checkpoint", ".other.AbC123"}));
}

TEST_F(CheckpointFolderTest, AFullDiskLeavesTheOldOnes) {
  ASSERT_TRUE(Save(1).ok());
  ASSERT_TRUE(Save(2).ok());
  // A limit on file size fails the write in the middle, as a full disk does.
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  small.rlim_cur = 1000;
  ::setrlimit(RLIMIT_FSIZE, &small);
  const Status status = Save(3, 1);
  ::setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted) << status;
  EXPECT_EQ(Names(), (Set{"round-00000001.checkpoint", "round-00000002.checkpoint"}));
}

}  // namespace
}  // namespace tributary::inline coordinator
