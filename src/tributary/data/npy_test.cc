#include "tributary/data/npy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>

namespace tributary::inline data {
namespace {

using std::string_literals::operator""s;

ByteSpan AsBytes(const std::string& text) { return std::as_bytes(std::span(text)); }

// A file of this version around this dictionary.
std::string File(const std::string& dictionary, const std::string& values, char version = 1) {
  std::string file = "\x93NUMPY"s + version + '\0' + static_cast<char>(dictionary.size()) + '\0';
  if (version > 1) file += "\0\0"s;
  return file + dictionary + values;
}

std::string Array(const std::string& type, const std::string& shape, const std::string& values) {
  return File("{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }", values);
}

template <typename T>
std::string Raw(std::initializer_list<T> values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), std::data(values), bytes.size());
  return bytes;
}

std::string Refusal(const std::string& file) {
  const auto array = ParseNpy(AsBytes(file));
  return array.ok() ? "accepted" : array.status().message();
}

TEST(NpyReader, ReadsAFileAsNumPyWritesIt) {
  // numpy.save of array([[1.5, -2], [3, 4]], dtype=float32).
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }";
  header.append(117 - header.size(), ' ').push_back('\n');
  const std::string file = File(header, Raw<float>({1.5F, -2, 3, 4}));
  ASSERT_EQ(file.size(), 128U + 16);
  const auto array = ParseNpy(AsBytes(file));
  ASSERT_TRUE(array.ok()) << array.status();
  EXPECT_EQ(array->type, NpyType::kFloat32);
  EXPECT_EQ(array->shape, (std::vector<std::size_t>{2, 2}));
  EXPECT_EQ(NpyToFloats(*array), (std::vector<float>{1.5F, -2, 3, 4}));
}

TEST(NpyReader, ReadsEveryTypeExactly) {
  const auto expect = [](const std::string& type, const std::string& values,
                         const std::vector<float>& floats) {
    const std::string file = Array(type, "(2,)", values);
    const auto array = ParseNpy(AsBytes(file));
    ASSERT_TRUE(array.ok()) << type << ": " << array.status();
    EXPECT_EQ(NpyToFloats(*array), floats) << type;
    const auto integers = NpyToIntegers(*array);
    ASSERT_TRUE(integers.ok()) << integers.status();
    EXPECT_EQ((*integers)[0], static_cast<std::int64_t>(floats[0])) << type;
    EXPECT_EQ((*integers)[1], static_cast<std::int64_t>(floats[1])) << type;
  };
  expect("|u1", Raw<std::uint8_t>({0, 255}), {0, 255});
  expect("|i1", Raw<std::int8_t>({-128, 127}), {-128, 127});
  expect("<u2", Raw<std::uint16_t>({1, 65535}), {1, 65535});
  expect("<i2", Raw<std::int16_t>({-32768, 9}), {-32768, 9});
  expect("<u4", Raw<std::uint32_t>({7, 1U << 31}), {7, 0x1p31F});
  expect("<i4", Raw<std::int32_t>({-5, 1 << 30}), {-5, 0x1p30F});
  expect("<u8", Raw<std::uint64_t>({3, 1ULL << 62}), {3, 0x1p62F});
  expect("<i8", Raw<std::int64_t>({-3, 1LL << 62}), {-3, 0x1p62F});
  expect("<f2", Raw<std::uint16_t>({0x3c00, 0xc900}), {1, -10});
  expect("<f4", Raw<float>({-7, 8}), {-7, 8});
  expect("<f8", Raw<double>({-7, 8}), {-7, 8});
}

TEST(NpyReader, ReadsHalfPrecisionAtItsEdges) {
  const std::string file =
      Array("<f2", "(6,)", Raw<std::uint16_t>({0x0001, 0x03ff, 0x0400, 0x7bff, 0x7c00, 0x7e00}));
  const std::vector<float> values = NpyToFloats(*ParseNpy(AsBytes(file)));
  EXPECT_EQ(values[0], 0x1p-24F);
  EXPECT_EQ(values[1], 1023 * 0x1p-24F);
  EXPECT_EQ(values[2], 0x1p-14F);
  EXPECT_EQ(values[3], 65504.0F);
  EXPECT_TRUE(std::isinf(values[4]));
  EXPECT_TRUE(std::isnan(values[5]));
}

TEST(NpyReader, ReadsVersionsTwoAndThreeAndAnyOrderOfKeys) {
  const std::string dictionary = "{\"shape\":(1,2),'fortran_order':False , 'descr':'|u1'} \n";
  for (const char version : {'\x01', '\x02', '\x03'})
    EXPECT_EQ(Refusal(File(dictionary, "ab", version)), "accepted");
  EXPECT_NE(Refusal(File(dictionary, "ab", 4)).find("found 4.0"), std::string::npos);
}

TEST(NpyReader, ReadsScalarsAndEmptyArrays) {
  EXPECT_EQ(ParseNpy(AsBytes(Array("|u1", "()", "x")))->count, 1U);
  EXPECT_EQ(ParseNpy(AsBytes(Array("<f8", "(0, 3)", "")))->count, 0U);
  EXPECT_EQ(Refusal(Array("<f8", "(18446744073709551615, 18446744073709551615, 0)", "")), "accepted");
}

TEST(NpyReader, RefusesAHeaderThatLiesAboutItsSize) {
  EXPECT_NE(
      Refusal(Array("<f4", "(3,)", std::string(8, 'x'))).find("more values of float32 than the 8 bytes"),
      std::string::npos);
  EXPECT_NE(Refusal(Array("<f4", "(2,)", std::string(9, 'x'))).find("2 values of float32, 8 bytes; found 9"),
            std::string::npos);
  // 2^32 · 2^32 · 1 would be nothing in 64 bits.
  EXPECT_NE(Refusal(Array("|u1", "(4294967296, 4294967296)", "")).find("more values"), std::string::npos);
  std::string file = Array("|u1", "(1,)", "x");
  file[8] = '\x7f';
  EXPECT_NE(Refusal(file).find("claims 127 bytes"), std::string::npos);
}

TEST(NpyReader, RefusesAFileCutAnywhere) {
  const std::string file = Array("<i4", "(2, 1)", std::string(8, 'x'));
  ASSERT_EQ(Refusal(file), "accepted");
  for (std::size_t length = 0; length < file.size(); ++length) {
    EXPECT_EQ(ParseNpy(AsBytes(file.substr(0, length))).status().code(), StatusCode::kCorrupt) << length;
  }
}

TEST(NpyReader, RefusesWhatItCannotRead) {
  EXPECT_NE(Refusal(Array(">f4", "(1,)", "abcd")).find("little-endian, '<f4'"), std::string::npos);
  EXPECT_NE(Refusal(Array("|O", "(1,)", "abcd")).find("type '|O'"), std::string::npos);
  EXPECT_NE(Refusal(Array("<c8", "(1,)", "abcdefgh")).find("type '<c8'"), std::string::npos);
  EXPECT_NE(Refusal(File("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "abcd"))
                .find("arrays of structures"),
            std::string::npos);
  EXPECT_NE(Refusal(File("{'descr': '|u1', 'fortran_order': True, 'shape': (1, 2)}", "ab")).find("Fortran"),
            std::string::npos);
  EXPECT_NE(Refusal(Array("|u1", "(1,1,1,1,1,1,1,1,1)", "x")).find("at most 8 dimensions"),
            std::string::npos);
}

TEST(NpyReader, RefusesHeadersThatAreNotOne) {
  for (const std::string dictionary :
       {"", "{", "{}", "[]", "{'descr': '|u1'}", "{'descr': '|u1', 'fortran_order': 1, 'shape': (1,)}",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (1)}",
        "{'descr': '|u1', 'fortran_order': False, 'shape': 1}",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (1,), 'more': 1}",
        "{'descr': '|u1', 'descr': '|u1', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (1,)} x", "{'descr': '|u1"}) {
    const auto array = ParseNpy(AsBytes(File(dictionary, "x")));
    EXPECT_EQ(array.status().code(), StatusCode::kCorrupt) << dictionary;
  }
  EXPECT_NE(Refusal(File("{'descr': |u1}", "x")).find("at byte 20 must have a type in quotes; found '|'"),
            std::string::npos)
      << Refusal(File("{'descr': |u1}", "x"));
}

TEST(NpyReader, RefusesIntegersThatAreNone) {
  const auto refusal = [](const std::string& file) {
    const auto integers = NpyToIntegers(*ParseNpy(AsBytes(file)));
    return integers.ok() ? "accepted" : integers.status().message();
  };
  EXPECT_NE(refusal(Array("<f4", "(2,)", Raw<float>({1, 1.5F}))).find("value 1 of 2 (float32)"),
            std::string::npos);
  EXPECT_NE(refusal(Array("<u8", "(1,)", Raw<std::uint64_t>({1ULL << 63}))).find("value 0"),
            std::string::npos);
  EXPECT_NE(refusal(Array("<f8", "(1,)", Raw<double>({0x1p63}))).find("value 0"), std::string::npos);
  EXPECT_EQ(refusal(Array("<f8", "(1,)", Raw<double>({-0x1p63}))), "accepted");
  EXPECT_NE(refusal(Array("<f8", "(1,)", Raw<double>({std::nan("")}))).find("value 0"), std::string::npos);
}

TEST(NpyWriter, RoundTripsAndAlignsTheValues) {
  const std::vector<float> floats = {1, 2.5F, -3, std::numeric_limits<float>::max(), 0, 6};
  const std::vector<std::byte> bytes = FormatNpy(std::vector<std::size_t>{3, 1, 2}, floats);
  const auto array = ParseNpy(bytes);
  ASSERT_TRUE(array.ok()) << array.status();
  EXPECT_EQ(array->shape, (std::vector<std::size_t>{3, 1, 2}));
  EXPECT_EQ(NpyToFloats(*array), floats);
  EXPECT_EQ((bytes.size() - array->bytes.size()) % 64, 0U);

  const std::vector<std::int64_t> integers = {std::numeric_limits<std::int64_t>::min(), -1, 7};
  const std::vector<std::byte> file = FormatNpy(std::vector<std::size_t>{3}, integers);
  EXPECT_EQ(*NpyToIntegers(*ParseNpy(file)), integers);
  EXPECT_EQ(ParseNpy(FormatNpy(std::vector<std::size_t>{}, std::vector<float>{5}))->count, 1U);
}

}  // namespace
}  // namespace tributary::inline data
