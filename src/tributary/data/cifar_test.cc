#include "tributary/data/cifar.h"

#include <gtest/gtest.h>

namespace tributary::inline data {
namespace {

std::vector<std::byte> Record(std::initializer_list<int> labels, int pixel) {
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
  ASSERT_TRUE(AppendCifar(Join(Record({3}, 1), Record({9}, 2)), CifarKind::kCifar10, samples).ok());
  ASSERT_TRUE(AppendCifar(Record({0}, 5), CifarKind::kCifar10, samples).ok());
  EXPECT_EQ(samples.labels, (std::vector<std::int32_t>{3, 9, 0}));
  ASSERT_EQ(samples.pixels.size(), 3 * kCifarPixels);
  EXPECT_EQ(samples.pixels[0], 1);
  EXPECT_EQ(samples.pixels[kCifarPixels - 1], 77);
  EXPECT_EQ(samples.pixels[kCifarPixels], 2);
}

TEST(CifarReader, KeepsTheFineLabelOfAHundred) {
  CifarSamples samples;
  ASSERT_TRUE(AppendCifar(Join(Record({19, 99}, 1), Record({0, 42}, 2)), CifarKind::kCifar100, samples).ok());
  EXPECT_EQ(samples.labels, (std::vector<std::int32_t>{99, 42}));
  EXPECT_EQ(samples.pixels[kCifarPixels], 2);
}

TEST(CifarReader, RefusesLabelsOutOfRangeWithTheirPlace) {
  CifarSamples samples;
  EXPECT_EQ(AppendCifar(Join(Record({3}, 1), Record({10}, 2)), CifarKind::kCifar10, samples).message(),
            "the label at byte 3073 must be from 0 to 9, found 10");
  EXPECT_EQ(AppendCifar(Record({20, 5}, 1), CifarKind::kCifar100, samples).message(),
            "the label at byte 0 must be from 0 to 19, found 20");
  EXPECT_EQ(AppendCifar(Record({2, 100}, 1), CifarKind::kCifar100, samples).message(),
            "the label at byte 1 must be from 0 to 99, found 100");
  // A failed file leaves nothing of itself, not even its good first record.
  EXPECT_TRUE(samples.labels.empty());
  EXPECT_TRUE(samples.pixels.empty());
}

TEST(CifarReader, RefusesAnythingButWholeRecords) {
  const std::vector<std::byte> bytes = Record({3}, 1);
  CifarSamples samples;
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_EQ(AppendCifar(ByteSpan(bytes).first(length), CifarKind::kCifar10, samples).code(),
              StatusCode::kCorrupt);
  }
  EXPECT_EQ(AppendCifar(Join(bytes, {std::byte{0}}), CifarKind::kCifar10, samples).message(),
            "a CIFAR-10 file is a whole number of records of 3073 bytes, found 3074 bytes: 1 records and 1 "
            "bytes over");
}

}  // namespace
}  // namespace tributary::inline data
