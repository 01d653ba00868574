#include "tributary/data/published_formats.h"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <string>

namespace tributary::inline data {
namespace {

using std::string_literals::operator""s;

ByteSpan AsBytes(const std::string& text) { return std::as_bytes(std::span(text)); }

// Two images of one row of three pixels.
const std::string kImages = "\0\0\x08\x03\0\0\0\x02\0\0\0\x01\0\0\0\x03\x01\x02\x03\x04\x05\xff"s;
const std::string kLabels = "\0\0\x08\x01\0\0\0\x02\x07\x09"s;

std::string Images(const std::string& bytes) {
  const auto images = ParseIdxImages(AsBytes(bytes));
  return images.ok() ? "accepted" : images.status().message();
}

std::string Labels(const std::string& bytes) {
  const auto labels = ParseIdxLabels(AsBytes(bytes));
  return labels.ok() ? "accepted" : labels.status().message();
}

std::string With(std::string bytes, std::size_t at, char value) {
  bytes[at] = value;
  return bytes;
}

TEST(IdxReader, ReadsImages) {
  const auto images = ParseIdxImages(AsBytes(kImages));
  ASSERT_TRUE(images.ok()) << images.status();
  EXPECT_EQ(images->count, 2U);
  EXPECT_EQ(images->height, 1U);
  EXPECT_EQ(images->width, 3U);
  EXPECT_EQ(images->pixels.size(), 6U);
  EXPECT_EQ(images->pixels[5], std::byte{255});
}

TEST(IdxReader, ReadsLabels) {
  const auto labels = ParseIdxLabels(AsBytes(kLabels));
  ASSERT_TRUE(labels.ok()) << labels.status();
  EXPECT_EQ((std::vector<std::byte>(labels->begin(), labels->end())),
            (std::vector<std::byte>{std::byte{7}, std::byte{9}}));
}

TEST(IdxReader, MakesADataSet) {
  const auto dataset = DatasetFromIdx({"test", {}, 10, {}}, AsBytes(kImages), AsBytes(kLabels));
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  EXPECT_EQ(dataset->shape(), (Shape{1, 1, 3}));
  EXPECT_EQ(dataset->label(1), 9);
  std::vector<float> sample(3);
  dataset->Read(1, sample);
  EXPECT_EQ(sample, (std::vector<float>{4 / 255.0F, 5 / 255.0F, 1}));
}

TEST(IdxReader, RefusesAFileCutAnywhereOrTooLong) {
  for (std::size_t length = 0; length < kImages.size(); ++length) {
    EXPECT_EQ(ParseIdxImages(AsBytes(kImages.substr(0, length))).status().code(), StatusCode::kCorrupt)
        << length;
  }
  for (std::size_t length = 0; length < kLabels.size(); ++length) {
    EXPECT_EQ(ParseIdxLabels(AsBytes(kLabels.substr(0, length))).status().code(), StatusCode::kCorrupt)
        << length;
  }
  EXPECT_EQ(Images(kImages + "x"), "the IDX header promises 6 values, found 7 bytes from byte 16");
  EXPECT_EQ(Labels(kLabels + "x"), "the IDX header promises 2 values, found 3 bytes from byte 8");
}

TEST(IdxReader, RefusesAnotherMagicTypeOrRank) {
  EXPECT_NE(Images(With(kImages, 0, 1)).find("two zero bytes, found 1 and 0 at byte 0"), std::string::npos);
  EXPECT_NE(Images(With(kImages, 2, 0x0d)).find("type at byte 2 must be 8 (unsigned bytes), found 13"),
            std::string::npos);
  EXPECT_NE(Images(With(kImages, 3, 1)).find("rank at byte 3 must be 3 (images), found 1"),
            std::string::npos);
  EXPECT_NE(Labels(With(kLabels, 3, 3)).find("must be 1 (labels), found 3"), std::string::npos);
}

TEST(IdxReader, RefusesSidesWhoseProductOverflows) {
  EXPECT_NE(
      Images("\0\0\x08\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"s).find("4294967295 at byte 4"),
      std::string::npos);
  // 2^22 · 2^21 · 2^21 = 2^64.
  EXPECT_NE(Images("\0\0\x08\x03\0\x40\0\0\0\x20\0\0\0\x20\0\0"s).find("asks for more values"),
            std::string::npos);
}

TEST(IdxReader, RefusesEmptyImagesButNotAnEmptyFileOfThem) {
  EXPECT_NE(Images("\0\0\x08\x03\0\0\0\x02\0\0\0\0\0\0\0\x03"s).find("hold nothing"), std::string::npos);
  EXPECT_EQ(Images("\0\0\x08\x03\0\0\0\0\0\0\0\x02\0\0\0\x03"s), "accepted");
}

TEST(IdxReader, RefusesLabelsThatDoNotFitTheImages) {
  const auto make = [](const std::string& labels, int classes) {
    const auto dataset = DatasetFromIdx({"test", {}, classes, {}}, AsBytes(kImages), AsBytes(labels));
    return dataset.ok() ? "accepted" : dataset.status().message();
  };
  EXPECT_EQ(make(kLabels, 9), "sample 1 has label 9; labels lie in 0 to 8");
  EXPECT_EQ(make("\0\0\x08\x01\0\0\0\x01\x07"s, 10), "there are 2 images but 1 labels");
  EXPECT_EQ(make(kImages, 10).substr(0, 8), "labels: ");
}

std::vector<std::byte> CifarRecord(std::initializer_list<int> labels, int pixel) {
  std::vector<std::byte> bytes;
  for (const int label : labels) bytes.push_back(static_cast<std::byte>(label));
  bytes.resize(bytes.size() + kCifarPixels, static_cast<std::byte>(pixel));
  bytes.back() = std::byte{77};
  return bytes;
}

std::vector<std::byte> Join(std::vector<std::byte> a, const std::vector<std::byte>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(CifarReader, ReadsTenClasses) {
  CifarSamples samples;
  ASSERT_TRUE(AppendCifar(Join(CifarRecord({3}, 1), CifarRecord({9}, 2)), CifarKind::kCifar10, samples).ok());
  ASSERT_TRUE(AppendCifar(CifarRecord({0}, 5), CifarKind::kCifar10, samples).ok());
  EXPECT_EQ(samples.labels, (std::vector<std::int32_t>{3, 9, 0}));
  ASSERT_EQ(samples.pixels.size(), 3 * kCifarPixels);
  EXPECT_EQ(samples.pixels[0], 1);
  EXPECT_EQ(samples.pixels[kCifarPixels - 1], 77);
  EXPECT_EQ(samples.pixels[kCifarPixels], 2);
}

TEST(CifarReader, KeepsTheFineLabelOfAHundred) {
  CifarSamples samples;
  ASSERT_TRUE(
      AppendCifar(Join(CifarRecord({19, 99}, 1), CifarRecord({0, 42}, 2)), CifarKind::kCifar100, samples)
          .ok());
  EXPECT_EQ(samples.labels, (std::vector<std::int32_t>{99, 42}));
  EXPECT_EQ(samples.pixels[kCifarPixels], 2);
}

TEST(CifarReader, RefusesLabelsOutOfRangeWithTheirPlace) {
  CifarSamples samples;
  EXPECT_EQ(
      AppendCifar(Join(CifarRecord({3}, 1), CifarRecord({10}, 2)), CifarKind::kCifar10, samples).message(),
      "the label at byte 3073 must be from 0 to 9, found 10");
  EXPECT_EQ(AppendCifar(CifarRecord({20, 5}, 1), CifarKind::kCifar100, samples).message(),
            "the label at byte 0 must be from 0 to 19, found 20");
  EXPECT_EQ(AppendCifar(CifarRecord({2, 100}, 1), CifarKind::kCifar100, samples).message(),
            "the label at byte 1 must be from 0 to 99, found 100");
  // A failed file leaves nothing of itself, not even its good first record.
  EXPECT_TRUE(samples.labels.empty());
  EXPECT_TRUE(samples.pixels.empty());
}

TEST(CifarReader, RefusesAnythingButWholeRecords) {
  const std::vector<std::byte> bytes = CifarRecord({3}, 1);
  CifarSamples samples;
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_EQ(AppendCifar(ByteSpan(bytes).first(length), CifarKind::kCifar10, samples).code(),
              StatusCode::kCorrupt);
  }
  EXPECT_EQ(AppendCifar(Join(bytes, {std::byte{0}}), CifarKind::kCifar10, samples).message(),
            "a CIFAR-10 file is a whole number of records of 3073 bytes, found 3074 bytes: 1 records and 1 "
            "bytes over");
}

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
