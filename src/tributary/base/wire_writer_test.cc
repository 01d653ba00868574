#include "tributary/base/wire_writer.h"

#include <gtest/gtest.h>

namespace tributary::inline base {
namespace {

// The example of protobuf's own description of the format: field 1 is 150, then field 2 is "testing".
TEST(WireWriter, WritesTheFormatsExample) {
  EXPECT_EQ(WireWriter().Number(1, 150).Text(2, "testing").bytes(),
            std::string("\x08\x96\x01\x12\x07testing", 12));
  EXPECT_EQ(WireWriter().Number(1, -1).bytes(), "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
}

}  // namespace
}  // namespace tributary::inline base
