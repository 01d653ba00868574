#include "tributary/base/file_lock.h"

#include <gtest/gtest.h>
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

}  // namespace
}  // namespace tributary::inline base
