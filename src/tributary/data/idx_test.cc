#include "tributary/data/idx.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace tributary::inline data
