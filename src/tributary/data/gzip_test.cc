#include "tributary/data/gzip.h"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <string>

namespace tributary::inline data {
namespace {

std::string Gzip(std::string_view text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(deflateBound(&stream, text.size()) + 32, '\0');
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

StatusOr<std::vector<std::byte>> Unpack(std::string_view packed, std::int64_t limit) {
  return Gunzip(std::as_bytes(std::span(packed)), Bytes{limit});
}

std::string Text(const StatusOr<std::vector<std::byte>>& bytes) {
  if (!bytes.ok()) return bytes.status().message();
  return {reinterpret_cast<const char*>(bytes->data()), bytes->size()};
}

TEST(Gunzip, RoundTrips) {
  std::string large(300'000, 'x');
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>(i * i >> 7);
  for (const std::string& text : {std::string(), std::string("a"), large}) {
    EXPECT_EQ(Text(Unpack(Gzip(text), 300'000)), text);
  }
}

TEST(Gunzip, ReadsSeveralMembers) {
  EXPECT_EQ(Text(Unpack(Gzip("one") + Gzip("") + Gzip("two"), 100)), "onetwo");
}

TEST(Gunzip, AllowsExactlyTheLimit) {
  const std::string packed = Gzip(std::string(1000, 'x'));
  EXPECT_TRUE(Unpack(packed, 1000).ok());
  EXPECT_EQ(Unpack(packed, 999).status().code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(Unpack(packed, 0).status().code(), StatusCode::kResourceExhausted);
  EXPECT_TRUE(Unpack(Gzip(""), 0).ok());
  // A small file that unpacks to a huge one.
  EXPECT_EQ(Unpack(Gzip(std::string(20'000'000, 'x')), 100'000).status().code(),
            StatusCode::kResourceExhausted);
}

TEST(Gunzip, RefusesAFileCutAnywhere) {
  const std::string packed = Gzip("a text to pack, a text to unpack");
  for (std::size_t length = 0; length < packed.size(); ++length) {
    EXPECT_EQ(Unpack(packed.substr(0, length), 1000).status().code(), StatusCode::kCorrupt) << length;
  }
  EXPECT_NE(Text(Unpack(packed.substr(0, packed.size() - 1), 1000)).find("cut short"), std::string::npos);
}

TEST(Gunzip, RefusesDamageAndWhatFollows) {
  std::string packed = Gzip("a text to pack");
  EXPECT_NE(Text(Unpack("no gzip at all", 1000)).find("incorrect header check"), std::string::npos);
  EXPECT_EQ(Unpack(packed + "more", 1000).status().code(), StatusCode::kCorrupt);
  EXPECT_EQ(Unpack(packed + "x", 1000).status().code(), StatusCode::kCorrupt);
  packed[packed.size() - 6] = static_cast<char>(packed[packed.size() - 6] ^ 1);
  EXPECT_NE(Text(Unpack(packed, 1000)).find("incorrect data check"), std::string::npos);
}

TEST(ReadPlainOrGzip, PrefersThePlainFileAndNamesBothWhenThereIsNone) {
  const auto folder =
      std::filesystem::path(testing::TempDir()) / ("tributary_gzip_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  EXPECT_EQ(ReadPlainOrGzip(folder / "a", Bytes{9}).status().code(), StatusCode::kNotFound);
  EXPECT_NE(Text(ReadPlainOrGzip(folder / "a", Bytes{9})).find("a.gz"), std::string::npos);
  ASSERT_TRUE(WriteFileAtomically(folder / "a.gz", Gzip("packed")).ok());
  EXPECT_EQ(Text(ReadPlainOrGzip(folder / "a", Bytes{9})), "packed");
  EXPECT_EQ(ReadPlainOrGzip(folder / "a", Bytes{5}).status().code(), StatusCode::kResourceExhausted);
  ASSERT_TRUE(WriteFileAtomically(folder / "a", "plain").ok());
  EXPECT_EQ(Text(ReadPlainOrGzip(folder / "a", Bytes{9})), "plain");
  ASSERT_TRUE(WriteFileAtomically(folder / "b.gz", "damaged").ok());
  EXPECT_NE(Text(ReadPlainOrGzip(folder / "b", Bytes{9})).find("b.gz: "), std::string::npos);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace tributary::inline data
