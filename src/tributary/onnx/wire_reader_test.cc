#include "tributary/onnx/wire_reader.h"

#include <gtest/gtest.h>

#include "tributary/base/wire_writer.h"

namespace tributary::inline onnx {
namespace {

ByteSpan Span(const std::string& text) { return std::as_bytes(std::span(text)); }

// The example of protobuf's own description of the format: field 1 is 150, then field 2 is "testing".
TEST(WireReader, ReadsTheFormatsExample) {
  const std::string bytes("\x08\x96\x01\x12\x07testing", 12);
  WireReader reader(Span(bytes));
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.field(), 1U);
  EXPECT_EQ(reader.number(), 150U);
  EXPECT_EQ(reader.text(), "");
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.field(), 2U);
  EXPECT_EQ(reader.text(), "testing");
  EXPECT_EQ(reader.number(), 0U);
  EXPECT_FALSE(reader.Next());
  EXPECT_TRUE(reader.status().ok());
  EXPECT_EQ(WireWriter().Number(1, 150).Text(2, "testing").bytes(), bytes);
}

TEST(WireReader, ReadsRepeatedNumbersAloneAndPacked) {
  const std::string packed("\x42\x04\x03\x8e\x02\x05", 6);  // field 8: 3, 270, 5
  const std::string alone = WireWriter().Number(8, -1).bytes();
  std::vector<std::int64_t> numbers;
  const std::string all = packed + alone;
  WireReader reader(Span(all));
  while (reader.Next()) reader.AppendIntegers(numbers);
  EXPECT_EQ(numbers, (std::vector<std::int64_t>{3, 270, 5, -1}));
  const std::string reals = WireWriter().Real(7, 1.5F).bytes();
  std::vector<float> values;
  WireReader real_reader(Span(reals));
  while (real_reader.Next()) real_reader.AppendReals(values);
  EXPECT_EQ(values, (std::vector<float>{1.5F}));
}

TEST(WireReader, EndsWithAReasonWhereBytesAreNotInTheFormat) {
  const auto reason = [](const std::string& bytes) {
    WireReader reader(Span(bytes));
    while (reader.Next()) {
    }
    return reader.status().message();
  };
  EXPECT_EQ(reason("\x12\x07tes"), "field 2 says it takes 7 bytes but only 3 follow");
  EXPECT_EQ(reason("\x08\x96"), "field 1 ends in the middle of a number");
  EXPECT_EQ(reason(std::string("\x0b", 1)), "field 1 is of a kind that protobuf does not have");  // a group
  EXPECT_EQ(reason(std::string("\x00\x01", 2)), "a field has no valid number");
  EXPECT_EQ(reason(std::string(11, '\xff')), "a field has no valid number");
  EXPECT_EQ(reason(std::string("\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11)),
            "field 2 says it takes 18446744073709551615 bytes but only 0 follow");
}

}  // namespace
}  // namespace tributary::inline onnx
