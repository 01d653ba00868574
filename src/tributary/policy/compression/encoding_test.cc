#include "tributary/policy/compression/encoding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "tributary/base/distributions.h"

namespace tributary::inline policy {
namespace {

using ByteVector = std::vector<std::byte>;

struct Sparse {
  std::size_t count = 0;
  std::vector<std::uint32_t> indices;
  std::vector<float> values;
};

Sparse AnySparse(Rng& rng, std::size_t count, double density) {
  Sparse sparse{count, {}, {}};
  for (std::uint32_t i = 0; i < count; ++i) {
    if (rng.Uniform() >= density) continue;
    sparse.indices.push_back(i);
    sparse.values.push_back(static_cast<float>(Normal(rng)));
  }
  return sparse;
}

std::vector<float> Dense(const Sparse& sparse) {
  std::vector<float> dense(sparse.count);
  for (std::size_t i = 0; i < sparse.indices.size(); ++i) dense[sparse.indices[i]] = sparse.values[i];
  return dense;
}

bool SameBits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

std::vector<float> Decode(const ByteVector& bytes, std::size_t count) {
  std::span<const std::byte> rest = bytes;
  const auto unit = EncodedUnit::Parse(rest, count);
  EXPECT_TRUE(unit.ok()) << unit.status();
  EXPECT_TRUE(rest.empty());
  std::vector<float> values(count, 7);
  if (unit.ok()) unit->CopyTo(values);
  return values;
}

// How long each coding of the indices would be, from the words of the format alone.
std::size_t GapBytes(const Sparse& sparse) {
  std::size_t bytes = 0;
  std::int64_t before = -1;
  for (const std::int64_t index : sparse.indices) {
    std::int64_t gap = index - before - 1;
    do ++bytes;
    while ((gap /= 128) > 0);
    before = index;
  }
  return bytes;
}

TEST(Encoding, SparseUnitsComeBackExactlyInTheShorterOfBothForms) {
  Rng rng(1);
  int gaps = 0, bitmaps = 0;
  for (int i = 0; i < 2000; ++i) {
    const double densities[] = {0, 0.0005, 0.01, 0.1, 0.125, 0.2, 0.5, 1};
    const Sparse sparse = AnySparse(rng, rng.Below(i % 20 == 0 ? 50'000 : 600), densities[rng.Below(8)]);
    ByteVector bytes;
    AppendSparse(sparse.count, sparse.indices, sparse.values, bytes);
    const auto kind = static_cast<EncodingKind>(bytes[0]);
    const std::size_t of_gaps = GapBytes(sparse), of_bitmap = (sparse.count + 7) / 8;
    (kind == EncodingKind::kGaps ? gaps : bitmaps) += 1;
    ASSERT_EQ(kind, of_gaps <= of_bitmap ? EncodingKind::kGaps : EncodingKind::kBitmap);
    const auto digits = [](std::size_t n) -> std::size_t { return n < 128 ? 1 : n < 16384 ? 2 : 3; };
    ASSERT_EQ(bytes.size(), 1 + digits(sparse.count) + digits(sparse.indices.size()) +
                                std::min(of_gaps, of_bitmap) + 4 * sparse.indices.size());
    ASSERT_TRUE(SameBits(Decode(bytes, sparse.count), Dense(sparse)));
  }
  EXPECT_GT(gaps, 100);
  EXPECT_GT(bitmaps, 100);
}

TEST(Encoding, GapsOfEveryLengthComeBack) {
  std::vector<std::uint32_t> indices;
  std::uint32_t next = 0;
  for (const std::uint32_t gap :
       {0U, 1U, 126U, 127U, 128U, 129U, 16383U, 16384U, (1U << 21) - 1, 1U << 21, (1U << 28) - 1, 1U << 28}) {
    indices.push_back(next + gap);
    next += gap + 1;
  }
  const std::vector<float> values(indices.size(), 1.5F);
  const std::size_t count = 0xffffffff;
  ByteVector bytes;
  AppendSparse(count, indices, values, bytes);
  std::span<const std::byte> rest = bytes;
  const auto unit = EncodedUnit::Parse(rest, count);
  ASSERT_TRUE(unit.ok()) << unit.status();
  std::vector<std::uint32_t> found;
  unit->ForEachRun([&](std::size_t offset, std::span<const float> run) {
    for (std::size_t i = 0; i < run.size(); ++i) found.push_back(static_cast<std::uint32_t>(offset + i));
  });
  EXPECT_EQ(found, indices);
}

TEST(Encoding, DenseUnitsComeBackExactly) {
  Rng rng(2);
  for (const std::size_t count : {0, 1, 127, 128, 1024, 1025, 5000}) {
    std::vector<float> values(count);
    for (float& value : values) value = static_cast<float>(Normal(rng));
    if (count > 3) values[3] = -0.0F;
    ByteVector bytes;
    AppendDense(values, bytes);
    EXPECT_EQ(bytes.size(), DenseBytes(count));
    EXPECT_TRUE(SameBits(Decode(bytes, count), values));
  }
}

TEST(Encoding, Int8KeepsItsErrorBound) {
  Rng rng(3);
  for (int i = 0; i < 400; ++i) {
    const std::size_t count = rng.Below(2000);
    std::vector<float> values(count);
    // From blocks that vanish to the largest floats there are.
    const double scale = i < 4 ? static_cast<double>(std::numeric_limits<float>::max())
                               : std::exp2(static_cast<double>(rng.Below(270)) - 149);
    for (float& value : values) value = static_cast<float>(scale * Uniform(rng, -1, 1));
    if (i == 0 && count > 0) values[0] = std::numeric_limits<float>::max();
    ByteVector bytes;
    AppendInt8(values, bytes);
    EXPECT_EQ(bytes.size(), Int8Bytes(count));
    const std::vector<float> found = Decode(bytes, count);
    for (std::size_t begin = 0; begin < count; begin += kInt8Block) {
      const std::size_t end = std::min(count, begin + kInt8Block);
      double largest = 0;
      for (std::size_t j = begin; j < end; ++j)
        largest = std::max(largest, std::abs(static_cast<double>(values[j])));
      for (std::size_t j = begin; j < end; ++j) {
        if (largest < 0x1p-100) {
          ASSERT_EQ(found[j], 0);
        } else {
          ASSERT_LE(std::abs(static_cast<double>(found[j]) - static_cast<double>(values[j])), largest / 253);
        }
      }
    }
  }
}

TEST(Encoding, Int8RoundsHalvesToEven) {
  const std::vector<float> values = {127, -127, 0.5F, 1.5F, 2.5F, -0.5F, -1.5F, 0.49F, 0.51F};
  ByteVector bytes;
  AppendInt8(values, bytes);
  EXPECT_EQ(Decode(bytes, values.size()), (std::vector<float>{127, -127, 0, 2, 2, 0, -2, 0, 1}));
}

TEST(EncodedUnit, AddsToSumsWithoutADenseCopy) {
  Rng rng(4);
  for (const double density : {0.01, 0.3, 1.0}) {
    const Sparse sparse = AnySparse(rng, 5000, density);
    ByteVector bytes;
    AppendSparse(sparse.count, sparse.indices, sparse.values, bytes);
    std::span<const std::byte> rest = bytes;
    const auto unit = EncodedUnit::Parse(rest, sparse.count).value();
    EXPECT_EQ(unit.kept(), sparse.indices.size());
    std::vector<float> sums(sparse.count, 1), expected = Dense(sparse);
    for (float& value : expected) value = 1 + value;
    unit.AddTo(sums);
    EXPECT_TRUE(SameBits(sums, expected));
    std::size_t end = 0, seen = 0;
    unit.ForEachRun([&](std::size_t offset, std::span<const float> run) {
      EXPECT_GE(offset, end);
      EXPECT_GT(run.size(), 0U);
      end = offset + run.size();
      seen += run.size();
    });
    EXPECT_EQ(seen, sparse.indices.size());
    EXPECT_LE(end, sparse.count);
  }
}

ByteVector Raw(std::initializer_list<int> bytes, std::initializer_list<float> values = {}) {
  ByteVector raw;
  for (const int byte : bytes) raw.push_back(static_cast<std::byte>(byte));
  for (const float value : values) {
    const auto bits = std::bit_cast<std::array<std::byte, 4>>(value);
    raw.insert(raw.end(), bits.begin(), bits.end());
  }
  return raw;
}

std::string Refusal(const ByteVector& bytes, std::size_t count) {
  std::span<const std::byte> rest = bytes;
  const auto unit = EncodedUnit::Parse(rest, count);
  EXPECT_EQ(rest.size(), bytes.size());
  EXPECT_FALSE(unit.ok());
  if (unit.ok()) return "";
  EXPECT_EQ(unit.status().code(), StatusCode::kCorrupt);
  return unit.status().message();
}

TEST(EncodedUnit, RefusesHostileBytes) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(has(Refusal({}, 1), "missing"));
  EXPECT_TRUE(has(Refusal(Raw({9, 1}), 1), "kind 9"));
  EXPECT_TRUE(has(Refusal(Raw({0, 1}), 1), "kind 0"));
  EXPECT_TRUE(has(Refusal(Raw({1}), 1), "no number"));
  EXPECT_TRUE(has(Refusal(Raw({1, 2}, {1, 2}), 1), "must have 1 elements; found 2"));
  EXPECT_TRUE(has(Refusal(Raw({1, 0x81, 0}, {1}), 1), "no number"));  // Not the shortest form.
  EXPECT_TRUE(has(Refusal(Raw({1, 0xff, 0xff, 0xff, 0xff, 0x1f}), 1), "no number"));
  EXPECT_TRUE(has(Refusal(Raw({1, 2}, {1}), 2), "needs 8 more bytes; found 4"));
  EXPECT_TRUE(has(Refusal(Raw({1, 2}, {1, infinity}), 2), "not finite"));
  EXPECT_TRUE(has(Refusal(Raw({1, 2}, {nan, 1}), 2), "not finite"));
  // A claim of four billion values in ten bytes.
  EXPECT_TRUE(
      has(Refusal(Raw({1, 0xff, 0xff, 0xff, 0xff, 0x0f}, {1}), 0xffffffff), "needs 17179869180 more bytes"));
  EXPECT_TRUE(has(Refusal(Raw({2, 0xff, 0xff, 0xff, 0xff, 0x0f, 0xff, 0xff, 0xff, 0xff, 0x0f}), 0xffffffff),
                  "truncated"));
  // Gaps.
  EXPECT_TRUE(has(Refusal(Raw({2, 4, 5}), 4), "cannot hold 5 values"));
  EXPECT_TRUE(has(Refusal(Raw({2, 4}), 4), "unreadable"));
  EXPECT_TRUE(has(Refusal(Raw({2, 4, 2, 0}), 4), "index 1 of an encoded unit is truncated"));
  EXPECT_TRUE(has(Refusal(Raw({2, 4, 1, 0x80, 0}, {1}), 4), "shortest form"));
  EXPECT_TRUE(has(Refusal(Raw({2, 4, 2, 3, 0}, {1, 2}), 4), "index 1 of an encoded unit is 4"));
  EXPECT_TRUE(has(Refusal(Raw({2, 4, 1, 0xff, 0xff, 0xff, 0xff, 0x0f}, {1}), 4), "is 4294967295"));
  EXPECT_TRUE(has(Refusal(Raw({2, 4, 1, 3}, {infinity}), 4), "not finite"));
  EXPECT_TRUE(has(Refusal(Raw({2, 4, 1, 3}), 4), "needs 4 more"));
  // Bitmaps.
  EXPECT_TRUE(has(Refusal(Raw({3, 4, 1, 0x10}, {1}), 4), "after its last element"));
  EXPECT_TRUE(has(Refusal(Raw({3, 4, 1, 3}, {1}), 4), "2 bits for 1 values"));
  EXPECT_TRUE(has(Refusal(Raw({3, 9, 1, 1}), 9), "needs 2 more bytes; found 1"));
  EXPECT_TRUE(has(Refusal(Raw({3, 4, 1, 1}, {nan}), 4), "not finite"));
  // int8.
  EXPECT_TRUE(has(Refusal(Raw({4, 1}, {1}), 1), "needs 5 more bytes; found 4"));
  for (const float scale : {-1.0F, -0.0F, infinity, nan, std::numeric_limits<float>::max()}) {
    ByteVector bytes = Raw({4, 1}, {scale});
    bytes.push_back(std::byte{1});
    EXPECT_TRUE(has(Refusal(bytes, 1), "scale"));
  }
  ByteVector least = Raw({4, 1}, {1});
  least.push_back(std::byte{0x80});
  EXPECT_TRUE(has(Refusal(least, 1), "−128"));
}

TEST(EncodedUnit, SurvivesBytesThatWereChanged) {
  Rng rng(6);
  for (int i = 0; i < 20'000; ++i) {
    const Sparse sparse = AnySparse(rng, 1 + rng.Below(200), rng.Uniform());
    ByteVector bytes;
    AppendSparse(sparse.count, sparse.indices, sparse.values, bytes);
    for (std::uint64_t j = rng.Below(4); j > 0; --j) {
      bytes[rng.Below(bytes.size())] = static_cast<std::byte>(rng.Below(256));
    }
    bytes.resize(rng.Below(4) == 0 ? rng.Below(bytes.size() + 1) : bytes.size());
    std::span<const std::byte> rest = bytes;
    const auto unit = EncodedUnit::Parse(rest, sparse.count);
    if (!unit.ok()) continue;
    std::size_t seen = 0;
    unit->ForEachRun([&](std::size_t offset, std::span<const float> run) {
      ASSERT_LE(offset + run.size(), sparse.count);
      for (const float value : run) ASSERT_TRUE(std::isfinite(value));
      seen += run.size();
    });
    ASSERT_EQ(seen, unit->kept());
  }
}

}  // namespace
}  // namespace tributary::inline policy
