#include "tributary/base/crc32c.h"

#include <gtest/gtest.h>

#include <string>

namespace tributary::inline base {
namespace {

// The examples of RFC 3720, appendix B.4, and the usual check value.
TEST(Crc32c, AgreesWithThePublishedExamples) {
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aaU);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62a8ab43U);
  std::string up, down;
  for (int i = 0; i < 32; ++i) {
    up += static_cast<char>(i);
    down += static_cast<char>(31 - i);
  }
  EXPECT_EQ(Crc32c(up), 0x46dd794eU);
  EXPECT_EQ(Crc32c(down), 0x113fdb5cU);
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283U);
  EXPECT_EQ(Crc32c(""), 0U);
}

}  // namespace
}  // namespace tributary::inline base
