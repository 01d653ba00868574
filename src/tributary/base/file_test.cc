#include "tributary/base/file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

namespace tributary::inline base {
namespace {

class FileTest : public testing::Test {
 protected:
  FileTest() { std::filesystem::create_directories(folder_); }
  ~FileTest() override { std::filesystem::remove_all(folder_); }

  static std::string Text(const std::filesystem::path& path) {
    const auto bytes = ReadFile(path, Bytes{1 << 20});
    if (!bytes.ok()) return bytes.status().message();
    return {reinterpret_cast<const char*>(bytes->data()), bytes->size()};
  }
  std::size_t FilesInFolder() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder_), {}));
  }

  const std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) /
                                        (std::string("tributary_file_test_") + std::to_string(::getpid()));
};

TEST_F(FileTest, WritesWholeAndReplacesWhole) {
  const auto path = folder_ / "a";
  ASSERT_TRUE(WriteFileAtomically(path, "one").ok());
  ASSERT_TRUE(WriteFileAtomically(path, "two!").ok());
  EXPECT_EQ(Text(path), "two!");
  EXPECT_EQ(FilesInFolder(), 1U);
}

TEST_F(FileTest, AFailedWriteLeavesTheOldFileAndNothingElse) {
  const auto path = folder_ / "a";
  ASSERT_TRUE(WriteFileAtomically(path, "old").ok());
  // A limit on file size fails the write in the middle, as a full disk does.
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  small.rlim_cur = 4096;
  ::setrlimit(RLIMIT_FSIZE, &small);
  const Status status = WriteFileAtomically(path, std::string(100'000, 'x'));
  ::setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted) << status;
  EXPECT_EQ(Text(path), "old");
  EXPECT_EQ(FilesInFolder(), 1U);
}

TEST_F(FileTest, ASecretIsItsOwnersAlone) {
  const auto path = folder_ / "a";
  ASSERT_TRUE(WriteFileAtomically(path, "open").ok());
  ::chmod(path.c_str(), 0644);
  ASSERT_TRUE(WritePrivateFileAtomically(path, "secret").ok());
  struct stat info {};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
  EXPECT_EQ(Text(path), "secret");
}

TEST_F(FileTest, APasswordIsTheOneLineOfAFileThatOnlyItsOwnerReads) {
  const auto path = folder_ / "password";
  for (const char* text : {"hunter2", "hunter2\n", "hunter2\r\n"}) {
    ASSERT_TRUE(WritePrivateFileAtomically(path, text).ok());
    EXPECT_EQ(ReadPassword(path).value(), "hunter2");
  }
  std::filesystem::permissions(path, std::filesystem::perms(0640));
  EXPECT_NE(ReadPassword(path).status().message().find("(mode 0640); restrict it with: chmod 600"),
            std::string::npos);
  for (const char* text : {"", "\n", "two\nlines\n"}) {
    ASSERT_TRUE(WritePrivateFileAtomically(path, text).ok());
    EXPECT_EQ(ReadPassword(path).status().code(), StatusCode::kInvalidArgument) << text;
  }
  EXPECT_EQ(ReadPassword(folder_ / "none").status().code(), StatusCode::kNotFound);
}

TEST_F(FileTest, PrivateFoldersAreTheirOwnersAloneAndOthersStayAsTheyAre) {
  std::filesystem::permissions(folder_, std::filesystem::perms(0755));
  const mode_t before = ::umask(0);
  EXPECT_TRUE(MakePrivateFolders(folder_ / "a" / "b" / "").ok());
  EXPECT_TRUE(MakePrivateFolders(folder_ / "a" / "b").ok());
  ::umask(before);
  const auto mode = [](const std::filesystem::path& path) {
    return std::filesystem::status(path).permissions();
  };
  EXPECT_EQ(mode(folder_), std::filesystem::perms(0755));
  EXPECT_EQ(mode(folder_ / "a"), std::filesystem::perms(0700));
  EXPECT_EQ(mode(folder_ / "a" / "b"), std::filesystem::perms(0700));
  ASSERT_TRUE(WriteFileAtomically(folder_ / "file", "").ok());
  EXPECT_EQ(MakePrivateFolders(folder_ / "file" / "c").code(), StatusCode::kNotFound);
}

TEST_F(FileTest, ATemporaryFileTellsWhatItWasToBecome) {
  // A process that dies in the middle of a write, because its file grows too large.
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit small{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &small);
    std::signal(SIGXFSZ, [](int) { ::_exit(1); });
    (void)WriteFileAtomically(folder_ / "a.b", std::string(100'000, 'x'));
    ::_exit(0);
  }
  int how = 0;
  ASSERT_EQ(::waitpid(child, &how, 0), child);
  ASSERT_TRUE(WIFEXITED(how) && WEXITSTATUS(how) == 1);
  ASSERT_EQ(FilesInFolder(), 1U);
  EXPECT_EQ(TargetOfTemporary(std::filesystem::directory_iterator(folder_)->path().filename().string()),
            "a.b");
  for (const char* other : {"", ".", "a.b", ".a", ".config", ".a.b_cdef", "x.a.AbCdEf", ".AbCdEf"}) {
    EXPECT_EQ(TargetOfTemporary(other), "") << other;
  }
}

TEST_F(FileTest, ReadingIsBounded) {
  const auto path = folder_ / "a";
  ASSERT_TRUE(WriteFileAtomically(path, std::string(100, 'x')).ok());
  EXPECT_TRUE(ReadFile(path, Bytes{100}).ok());
  EXPECT_EQ(ReadFile(path, Bytes{99}).status().code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(ReadFile("/dev/zero", Bytes{1000}).status().code(), StatusCode::kResourceExhausted);
}

TEST_F(FileTest, ErrorsNameThePath) {
  EXPECT_EQ(ReadFile(folder_ / "none", Bytes{10}).status().code(), StatusCode::kNotFound);
  EXPECT_NE(ReadFile(folder_ / "none", Bytes{10}).status().message().find("none"), std::string::npos);
  EXPECT_EQ(ReadFile(folder_, Bytes{10}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(CheckWritable(folder_ / "no" / "such" / "f").code(), StatusCode::kNotFound);
  EXPECT_EQ(CheckWritable(folder_).code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(CheckWritable(folder_ / "f").ok());
  EXPECT_EQ(FilesInFolder(), 0U);
}

}  // namespace
}  // namespace tributary::inline base
