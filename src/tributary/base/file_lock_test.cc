#include "tributary/base/file_lock.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>

namespace tributary::inline base {
namespace {

TEST(FileLock, IsHeldByOneAtATimeUntilItsOwnerIsGone) {
  const auto path = std::filesystem::path(testing::TempDir()) / ("lock_test_" + std::to_string(::getpid()));
  std::optional<FileLock> first;
  {
    auto lock = FileLock::Acquire(path);
    ASSERT_TRUE(lock.ok()) << lock.status();
    first.emplace(std::move(lock).value());
  }
  const auto second = FileLock::Acquire(path);
  EXPECT_EQ(second.status().code(), StatusCode::kUnavailable);
  EXPECT_NE(second.status().message().find(path.string()), std::string::npos) << second.status();
  first.reset();
  EXPECT_TRUE(FileLock::Acquire(path).ok());
  std::filesystem::remove(path);
  EXPECT_EQ(FileLock::Acquire(path / "no" / "folder").status().code(), StatusCode::kInvalidArgument);
}

TEST(FileLock, CannotBeHeldByAnotherUser) {
  const auto path = std::filesystem::path(testing::TempDir()) / ("lock_mode_" + std::to_string(::getpid()));
  const auto mode = [&] { return std::filesystem::status(path).permissions(); };
  const mode_t before = ::umask(0);
  EXPECT_TRUE(FileLock::Acquire(path).ok());
  ::umask(before);
  EXPECT_EQ(mode(), std::filesystem::perms(0600));
  std::filesystem::permissions(path, std::filesystem::perms(0644));
  EXPECT_TRUE(FileLock::Acquire(path).ok());
  EXPECT_EQ(mode(), std::filesystem::perms(0600));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace tributary::inline base
