#include "tributary/model/safetensors.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <limits>

namespace tributary::inline model {
namespace {

// A file by hand: the length of `header`, the header, and `data_bytes` bytes of data.
std::string File(std::string_view header, std::size_t data_bytes) {
  std::string file;
  for (int i = 0; i < 8; ++i) file += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return file + std::string(header) + std::string(data_bytes, '\1');
}

StatusOr<SafetensorsView> Parse(std::string_view file) {
  return ParseSafetensors(std::as_bytes(std::span(file)));
}

std::string Refusal(std::string_view file) {
  const auto view = Parse(file);
  if (view.ok()) return "accepted";
  EXPECT_EQ(view.status().code(), StatusCode::kCorrupt);
  return view.status().message();
}

// A header of one tensor 'a' with these fields.
std::string One(std::string_view fields) { return "{\"a\":{" + std::string(fields) + "}}"; }

class SafetensorsFile : public testing::Test {
 protected:
  ~SafetensorsFile() override { std::filesystem::remove(path_); }

  std::string Written(std::span<const SafetensorsSource> tensors,
                      const std::map<std::string, std::string>& metadata = {}) {
    const Status status = WriteSafetensors(path_, tensors, metadata);
    EXPECT_TRUE(status.ok()) << status;
    const auto bytes = ReadFile(path_, Bytes{1 << 20});
    EXPECT_TRUE(bytes.ok()) << bytes.status();
    return {reinterpret_cast<const char*>(bytes->data()), bytes->size()};
  }

  std::string WriteRefusal(std::span<const SafetensorsSource> tensors,
                           const std::map<std::string, std::string>& metadata = {}) {
    const Status status = WriteSafetensors(path_, tensors, metadata);
    EXPECT_FALSE(std::filesystem::exists(path_));
    const std::string prefix = "cannot write " + path_.string() + ": ";
    return status.message().starts_with(prefix) ? status.message().substr(prefix.size()) : status.message();
  }

  const std::filesystem::path path_ = std::filesystem::path(testing::TempDir()) /
                                      ("tributary_safetensors_test_" + std::to_string(::getpid()));
};

TEST_F(SafetensorsFile, IsItsOwnersAlone) {
  const mode_t before = ::umask(0);
  (void)Written({});
  ::umask(before);
  EXPECT_EQ(std::filesystem::status(path_).permissions(), std::filesystem::perms(0600));
}

TEST_F(SafetensorsFile, RoundTrips) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> weights = {1, -2, 3.5F, -0.0F, infinity, 1e-40F};
  const std::vector<SafetensorsSource> sources = {
      {"z \"quoted\" é", {2, 3}, weights}, {"empty", {0, 7}, {}}, {"a", {}, std::span(weights).first(1)}};
  const std::map<std::string, std::string> metadata = {{"format", "pt"}, {"epoch", "3"}};
  const std::string file = Written(sources, metadata);
  const auto view = Parse(file);
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_EQ(view->metadata, metadata);
  ASSERT_EQ(view->tensors.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& tensor = view->tensors[i];
    EXPECT_EQ(tensor.name, sources[i].name);
    EXPECT_EQ(tensor.dtype, "F32");
    EXPECT_EQ(tensor.shape, sources[i].shape);
    ASSERT_EQ(tensor.bytes.size(), sources[i].values.size_bytes());
    EXPECT_TRUE(
        std::equal(tensor.bytes.begin(), tensor.bytes.end(), std::as_bytes(sources[i].values).begin()));
  }
}

TEST_F(SafetensorsFile, WritesTheFormatToTheByte) {
  const std::vector<float> values = {1, 2};
  const std::string header =
      R"({"__metadata__":{"k":"v"},"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  ASSERT_EQ(header.size() % 8, 7U);
  std::string expected = File(header + " ", 8);
  std::memcpy(expected.data() + expected.size() - 8, values.data(), 8);
  EXPECT_EQ(Written(std::vector<SafetensorsSource>{{"w", {2}, values}}, {{"k", "v"}}), expected);
}

TEST_F(SafetensorsFile, EveryTruncationAndAnyRestIsRefused) {
  const std::vector<float> values(5, 1);
  const std::string file =
      Written(std::vector<SafetensorsSource>{{"w", {2, 2}, std::span(values).first(4)}, {"b", {5}, values}});
  for (std::size_t length = 0; length < file.size(); ++length) {
    EXPECT_FALSE(Parse(std::string_view(file).substr(0, length)).ok()) << length;
  }
  EXPECT_EQ(Refusal(file + "x"), "the tensors end at byte 36 but the file holds 37 bytes of data");
}

TEST_F(SafetensorsFile, WriterRefusesWhatItCouldNotReadBack) {
  const std::vector<float> values(6);
  using Sources = std::vector<SafetensorsSource>;
  EXPECT_EQ(WriteRefusal(Sources{{"w", {2, 2}, values}}),
            "tensor 'w' has 6 values, which do not fill its shape 2x2");
  EXPECT_EQ(WriteRefusal(Sources{{"w", {-2, -3}, values}}),
            "tensor 'w' has 6 values, which do not fill its shape with a negative size");
  EXPECT_EQ(WriteRefusal(Sources{{"w", {6}, values}, {"w", {6}, values}}), "two tensors have the name 'w'");
  EXPECT_EQ(WriteRefusal(Sources{{"__metadata__", {6}, values}}),
            "a tensor cannot be named '__metadata__'; the format keeps metadata there");
  EXPECT_EQ(WriteRefusal({}, {{"k", "\xff"}}),
            "a tensor's name or a metadata text is not valid UTF-8, which the format requires");
}

TEST(ParseSafetensors, OrdersTensorsByTheirBytes) {
  const auto view = Parse(File(R"({"b":{"dtype":"I64","shape":[1],"data_offsets":[2,10]},)"
                               R"("a":{"dtype":"BF16","shape":[],"data_offsets":[0,2]}}  )",
                               10));
  ASSERT_TRUE(view.ok()) << view.status();
  ASSERT_EQ(view->tensors.size(), 2U);
  EXPECT_EQ(view->tensors[0].name, "a");
  EXPECT_EQ(view->tensors[1].bytes.size(), 8U);
  EXPECT_TRUE(Parse(File("{}", 0)).ok());
}

TEST(ParseSafetensors, NamesEachLieAboutTheFile) {
  EXPECT_EQ(
      Refusal("abc"),
      "a safetensors file starts with 8 bytes that give the length of its header; this one has only 3 bytes");
  EXPECT_EQ(Refusal(std::string("\x01\xe1\xf5\x05\0\0\0\0", 8)),
            "the header says it takes 100000001 bytes; at most 100000000 are allowed (is this a safetensors "
            "file?)");
  EXPECT_EQ(Refusal(std::string("\x09\0\0\0\0\0\0\0{}", 10)),
            "the header says it takes 9 bytes but only 2 follow");
  EXPECT_EQ(Refusal(File("", 0)), "the header does not start with '{'");
  EXPECT_EQ(Refusal(File(" {}", 0)), "the header does not start with '{'");
  EXPECT_EQ(Refusal(File(std::string("{}\0{", 4), 0)), "the header has a zero byte");
  EXPECT_EQ(Refusal(File("{\"a\" 1}", 0)), "the header is not valid JSON at its byte 6");
  EXPECT_EQ(Refusal(File("{} {}", 0)), "the header is not valid JSON at its byte 4");
  EXPECT_EQ(Refusal(File("{}", 3)), "the tensors end at byte 0 but the file holds 3 bytes of data");
}

TEST(ParseSafetensors, NamesEachLieAboutATensor) {
  const auto refusal = [](std::string_view fields) { return Refusal(File(One(fields), 8)); };
  EXPECT_EQ(
      Refusal(File(R"({"fc.weight":{"dtype":"F32","shape":[10,512],"data_offsets":[0,40960]}})", 40960)),
      "tensor 'fc.weight' says it takes 40960 bytes but its shape 10x512 of F32 takes 20480");
  EXPECT_EQ(
      refusal(R"("dtype":"F8","shape":[8],"data_offsets":[0,8])"),
      "tensor 'a' has the unknown dtype 'F8'; known are F64, F32, F16, BF16, I64, I32, I16, I8, U8, BOOL");
  EXPECT_EQ(refusal(R"("dtype":"F32","shape":[2],"data_offsets":[8,0])"),
            "tensor 'a' begins at byte 8 but ends before it, at 0");
  EXPECT_EQ(refusal(R"("dtype":"F32","shape":[3],"data_offsets":[0,12])"),
            "tensor 'a' ends at byte 12 but the file holds only 8 bytes of data");
  EXPECT_EQ(
      refusal(R"("dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0])"),
      "tensor 'a' says it takes 0 bytes but its shape 4294967296x4294967296 of F32 takes more than 2^63");
  EXPECT_EQ(refusal(R"("dtype":"F32","shape":[4611686018427387904],"data_offsets":[0,0])"),
            "tensor 'a' says it takes 0 bytes but its shape 4611686018427387904 of F32 takes more than 2^63");
  EXPECT_NE(refusal(R"("dtype":"F32","shape":[0,18446744073709551615],"data_offsets":[0,0])"), "accepted");
  EXPECT_EQ(
      refusal(R"("dtype":"U8","shape":[4],"data_offsets":[4,8])"),
      "tensor 'a' begins at byte 4 but the data before it ends at 0; bytes between tensors are not allowed");
  EXPECT_EQ(refusal(R"("dtype":"F32","shape":[1]})"
                    R"(,"b":{"dtype":"F32","shape":[2],"data_offsets":[0,8])"),
            "tensor 'a' has no data_offsets");
  const std::string b = R"(},"b":{"dtype":"U8","shape":[6],"data_offsets":[2,8])";
  EXPECT_EQ(refusal(R"("dtype":"U8","shape":[4],"data_offsets":[0,4])" + b),
            "tensor 'b' begins at byte 2, inside tensor 'a', which ends at 4");
  EXPECT_EQ(
      refusal(
          R"("dtype":"U8","shape":[4],"data_offsets":[0,4]},"a":{"dtype":"U8","shape":[4],"data_offsets":[4,8])"),
      "two tensors have the name 'a'");
}

TEST(ParseSafetensors, AcceptsNoOtherStructure) {
  const auto refusal = [](std::string_view fields) { return Refusal(File(One(fields), 0)); };
  EXPECT_EQ(refusal(R"("dtype":"F32","dtype":"F32")"), "tensor 'a' has the field dtype twice");
  EXPECT_EQ(refusal(R"("size":3)"), "tensor 'a' has a field 'size'; known are dtype, shape and data_offsets");
  EXPECT_EQ(refusal(R"("dtype":3)"), "tensor 'a' has a number as its dtype; it must be a text");
  EXPECT_EQ(
      refusal(R"("shape":[-1])"),
      "tensor 'a' has a negative number in its shape; it must be a list of whole numbers of at least 0");
  EXPECT_EQ(refusal(R"("shape":[1.5])"),
            "tensor 'a' has a number that is not whole in its shape; it must be a list of whole numbers of "
            "at least 0");
  EXPECT_EQ(refusal(R"("shape":[[1]])"),
            "tensor 'a' has a list in its shape; it must be a list of whole numbers of at least 0");
  EXPECT_EQ(refusal(R"("dtype":"U8","shape":[0],"data_offsets":[0,0,0])"),
            "tensor 'a' has 3 data_offsets; there must be two, begin and end");
  EXPECT_EQ(Refusal(File(R"({"a":null})", 0)), "the header has null under 'a'; it must be an object");
  EXPECT_EQ(Refusal(File(R"({"__metadata__":{"k":1}})", 0)),
            "the metadata has a number under 'k'; it must be a text");
  EXPECT_EQ(Refusal(File(R"({"__metadata__":{"k":"1","k":"2"}})", 0)), "the metadata has two values for 'k'");
  EXPECT_EQ(Refusal(File(R"({"__metadata__":{},"__metadata__":{}})", 0)),
            "the header has two blocks of metadata");
  EXPECT_EQ(Refusal(File("{\"a\\u0007b\":{}}", 0)), "tensor 'a?b' has no dtype");
  // A cut never leaves half a letter, which could not be written to a JSON log.
  const std::string letters = [] {
    std::string text = "x";
    for (int i = 0; i < 60; ++i) text += "é";
    return text;
  }();
  EXPECT_EQ(Refusal(File("{\"" + letters + "\":{}}", 0)),
            "tensor '" + letters.substr(0, 95) + "…' has no dtype");
  std::string sizes = "1";
  for (int i = 0; i < 64; ++i) sizes += ",1";
  EXPECT_EQ(refusal("\"shape\":[" + sizes + "]"), "tensor 'a' has more than 64 numbers in its shape");
}

TEST(ParseSafetensors, DeepNestingEndsInARefusal) {
  constexpr std::size_t kDeep = 5'000'000;
  EXPECT_EQ(Refusal(File("{\"a\":" + std::string(kDeep, '['), 0)),
            "the header has a list under 'a'; it must be an object");
  std::string objects;
  for (std::size_t i = 0; i < kDeep / 5; ++i) objects += "{\"a\":";
  EXPECT_EQ(Refusal(File(objects, 0)), "tensor 'a' has a field 'a'; known are dtype, shape and data_offsets");
}

}  // namespace
}  // namespace tributary::inline model
