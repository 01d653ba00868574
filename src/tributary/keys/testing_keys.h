#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "tributary/base/file.h"
#include "tributary/keys/authority.h"
#include "tributary/keys/credentials.h"
#include "tributary/keys/private_files.h"

namespace tributary::inline keys {

// A temporary folder with an authority in it, at a fixed moment. For the tests of keys/.
class KeysFixture : public testing::Test {
 protected:
  static constexpr std::time_t kNow = 1'800'000'000;  // January 2027
  static constexpr std::time_t kDay = 24 * 60 * 60;

  KeysFixture() {
    std::filesystem::create_directories(folder_);
    const Status made = InitAuthority(dir_, {.now = kNow});
    EXPECT_TRUE(made.ok()) << made;
  }
  ~KeysFixture() override { std::filesystem::remove_all(folder_); }

  // The bundle of a new device of the authority in `dir`.
  static std::filesystem::path Issue(const std::filesystem::path& dir, std::string_view name,
                                     bool renew = false, std::time_t now = kNow) {
    const auto bundle = IssueDevice(dir, name, {.now = now, .renew = renew});
    EXPECT_TRUE(bundle.ok()) << bundle.status();
    return bundle.ok() ? *bundle : std::filesystem::path();
  }
  static std::string Text(const std::filesystem::path& path) {
    const auto text = ReadText(path);
    EXPECT_TRUE(text.ok()) << text.status();
    return text.ok() ? *text : "";
  }
  std::vector<IssuedCertificate> Issued() const {
    const auto issued = ListIssued(dir_);
    EXPECT_TRUE(issued.ok()) << issued.status();
    return issued.ok() ? *issued : std::vector<IssuedCertificate>();
  }
  static void Copy(const std::filesystem::path& from, const std::filesystem::path& to) {
    std::filesystem::copy_file(from, to, std::filesystem::copy_options::overwrite_existing);
  }
  static unsigned Mode(const std::filesystem::path& path) {
    struct stat info {};
    EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
    return info.st_mode & 0777U;
  }
  static void ExpectRefused(const Status& status, StatusCode code, std::string_view words) {
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_NE(status.message().find(words), std::string::npos) << status;
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) /
      ("tributary_keys_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + "_" +
       std::to_string(::getpid()));
  const std::filesystem::path dir_ = folder_ / "keys";
};

}  // namespace tributary::inline keys
