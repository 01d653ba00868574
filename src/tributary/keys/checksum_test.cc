#include "tributary/keys/checksum.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace tributary::inline keys {
namespace {

// The examples of RFC 1321 and FIPS 180-2.
TEST(ChecksumOfFile, IsThatOfTheStandards) {
  const auto path = std::filesystem::path(testing::TempDir()) / ("checksum_" + std::to_string(::getpid()));
  const auto sum = [&](const std::string& text, Checksum::Kind kind) {
    std::ofstream(path, std::ios::binary) << text;
    return ChecksumOfFile(path, kind)->hex;
  };
  EXPECT_EQ(sum("", Checksum::Kind::kMd5), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(sum("abc", Checksum::Kind::kMd5), "900150983cd24fb0d6963f7d28e17f72");
  EXPECT_EQ(sum("abc", Checksum::Kind::kSha256),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sum(std::string(1'000'000, 'a'), Checksum::Kind::kSha256),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  std::filesystem::remove(path);
  EXPECT_EQ(ChecksumOfFile(path, Checksum::Kind::kMd5).status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace tributary::inline keys
