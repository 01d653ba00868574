#include "tributary/policy/compression/split_codec.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "tributary/base/distributions.h"
#include "tributary/base/names.h"
#include "tributary/policy/compression/float_bits.h"

namespace tributary::inline policy {
namespace {

using Buffer = std::vector<std::byte>;

Buffer Encoded(SplitPrecision precision, std::span<const float> values, std::size_t per_sample) {
  Buffer bytes;
  const Status status = AppendSplitValues(precision, values, per_sample, bytes);
  EXPECT_TRUE(status.ok()) << status;
  return bytes;
}

std::vector<float> Decoded(SplitPrecision precision, const Buffer& bytes, std::size_t per_sample,
                           std::size_t count) {
  std::vector<float> values(count, -1.0F);
  const Status status = ReadSplitValues(precision, bytes, per_sample, values);
  EXPECT_TRUE(status.ok()) << status;
  return values;
}

std::string Refused(SplitPrecision precision, const Buffer& bytes, std::size_t per_sample,
                    std::size_t count) {
  std::vector<float> values(count);
  return ReadSplitValues(precision, bytes, per_sample, values).message();
}

Buffer BytesOf(std::initializer_list<int> values) {
  Buffer bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

// Samples of quite different sizes.
std::vector<float> SomeValues(std::size_t samples, std::size_t per_sample) {
  Rng rng(3);
  std::vector<float> values;
  for (std::size_t sample = 0; sample < samples; ++sample) {
    const double size = std::pow(10.0, static_cast<double>(sample % 5) - 3);
    for (std::size_t i = 0; i < per_sample; ++i)
      values.push_back(static_cast<float>(size * Uniform(rng, -1, 1)));
  }
  return values;
}

TEST(SplitCodec, NamesComeBack) {
  for (const SplitPrecision precision : kSplitPrecisions) {
    EXPECT_EQ(ParseName("precision", kSplitPrecisions, NameOf(precision)).value(), precision);
  }
  EXPECT_EQ(ParseName("precision", kSplitPrecisions, "fp61").status().message(),
            "unknown precision 'fp61'; did you mean 'fp16'? Known: fp32, fp16, int8");
}

TEST(SplitCodec, WritesTheseBytes) {
  const std::vector<float> values = {1, -2, 0.5F, 127};
  EXPECT_EQ(Encoded(SplitPrecision::kFloat32, std::span(values).first(2), 1),
            BytesOf({0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0}));
  EXPECT_EQ(Encoded(SplitPrecision::kFloat16, values, 2), BytesOf({0, 0x3c, 0, 0xc0, 0, 0x38, 0xf0, 0x57}));
  // Scales 2/127 and 1; 127/2 and 1/2 are ties, which go to the even byte.
  const float scale = 2.0F / 127;
  Buffer bytes(sizeof(scale));
  std::memcpy(bytes.data(), &scale, sizeof(scale));
  for (const int byte : {64, -127, 0, 0, 0x80, 0x3f, 0, 127}) bytes.push_back(static_cast<std::byte>(byte));
  EXPECT_EQ(Encoded(SplitPrecision::kInt8, values, 2), bytes);
}

TEST(SplitCodec, KeepsWhatItsPrecisionKeeps) {
  for (const std::size_t per_sample : {1, 2, 255, 256, 257, 4096}) {
    const std::size_t samples = 11;
    const std::vector<float> values = SomeValues(samples, per_sample);
    for (const SplitPrecision precision : kSplitPrecisions) {
      Buffer bytes = BytesOf({1, 2, 3});  // what is there stays
      ASSERT_TRUE(AppendSplitValues(precision, values, per_sample, bytes).ok());
      ASSERT_EQ(bytes.size(), 3 + SplitBytes(precision, samples, per_sample));
      EXPECT_EQ(bytes[2], std::byte{3});
      bytes.erase(bytes.begin(), bytes.begin() + 3);
      const std::vector<float> restored = Decoded(precision, bytes, per_sample, values.size());
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (precision == SplitPrecision::kFloat32) {
          ASSERT_EQ(restored[i], values[i]);
        } else if (precision == SplitPrecision::kFloat16) {
          ASSERT_EQ(restored[i], FromHalf(HalfOf(values[i])));
        } else {
          float largest = 0;
          for (std::size_t k = 0; k < per_sample; ++k) {
            largest = std::max(largest, std::fabs(values[i / per_sample * per_sample + k]));
          }
          ASSERT_LE(std::fabs(restored[i] - values[i]), largest / 253);
        }
      }
    }
  }
  EXPECT_EQ(SplitBytes(SplitPrecision::kFloat32, 3, 100), 1200U);
  EXPECT_EQ(SplitBytes(SplitPrecision::kFloat16, 3, 100), 600U);
  EXPECT_EQ(SplitBytes(SplitPrecision::kInt8, 3, 100), 312U);
}

TEST(SplitCodec, WritesEachSampleAsIfItWereAlone) {
  const std::size_t samples = 7, per_sample = 300;
  const std::vector<float> values = SomeValues(samples, per_sample);
  for (const SplitPrecision precision : kSplitPrecisions) {
    Buffer one_by_one;
    for (std::size_t sample = 0; sample < samples; ++sample) {
      const auto values_of_sample = std::span(values).subspan(sample * per_sample, per_sample);
      ASSERT_TRUE(AppendSplitValues(precision, values_of_sample, per_sample, one_by_one).ok());
    }
    EXPECT_EQ(Encoded(precision, values, per_sample), one_by_one);
  }
}

TEST(SplitCodec, TakesNoSamplesAndExtremes) {
  for (const SplitPrecision precision : kSplitPrecisions) {
    EXPECT_TRUE(Encoded(precision, {}, 5).empty());
    EXPECT_TRUE(Decoded(precision, {}, 5, 0).empty());
    for (const float extreme : {0.0F, 1e-45F, 1e-38F, 1e30F, std::numeric_limits<float>::max()}) {
      const std::vector<float> values = {extreme, -extreme};
      for (const float value : Decoded(precision, Encoded(precision, values, 2), 2, 2)) {
        EXPECT_TRUE(std::isfinite(value));
        EXPECT_LE(std::fabs(value), extreme);
      }
    }
  }
  EXPECT_EQ(
      Decoded(SplitPrecision::kFloat16, Encoded(SplitPrecision::kFloat16, std::vector{-1e6F}, 1), 1, 1)[0],
      -65504);
}

TEST(SplitCodec, SendsNoValueThatIsNotFinite) {
  for (const SplitPrecision precision : kSplitPrecisions) {
    for (const float bad :
         {std::nanf(""), std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()}) {
      std::vector<float> values = SomeValues(4, 100);
      values[217] = bad;
      values[300] = bad;
      Buffer bytes = BytesOf({9});
      const Status status = AppendSplitValues(precision, values, 100, bytes);
      EXPECT_EQ(status.message(),
                "value 17 of sample 2 at the split point is " + std::to_string(bad) +
                    ", and only finite values can be sent; training has diverged: try a lower "
                    "learning rate");
      EXPECT_EQ(bytes, BytesOf({9}));
    }
  }
}

TEST(SplitCodec, RefusesOtherLengths) {
  for (const SplitPrecision precision : kSplitPrecisions) {
    Buffer bytes = Encoded(precision, SomeValues(3, 10), 10);
    const std::string size = std::to_string(bytes.size());
    bytes.push_back(std::byte{0});
    EXPECT_EQ(Refused(precision, bytes, 10, 30), "3 samples of 10 values as " +
                                                     std::string(NameOf(precision)) + " take " + size +
                                                     " bytes; found " + std::to_string(bytes.size()));
    for (bytes.pop_back(); !bytes.empty();) {
      bytes.pop_back();
      EXPECT_FALSE(Refused(precision, bytes, 10, 30).empty());
    }
  }
}

TEST(SplitCodec, RefusesBytesThatMeanNoFiniteValue) {
  const std::vector<float> values = SomeValues(3, 10);
  for (const std::uint32_t bits : {0x7f800000U, 0xff800000U, 0x7fc00000U, 0x7f800001U}) {
    Buffer bytes = Encoded(SplitPrecision::kFloat32, values, 10);
    std::memcpy(bytes.data() + 4 * 23, &bits, sizeof(bits));
    EXPECT_EQ(Refused(SplitPrecision::kFloat32, bytes, 10, 30),
              "value 3 of sample 2 received at the split point is not finite");
  }
  for (const std::uint16_t half : std::initializer_list<std::uint16_t>{0x7c00, 0xfc00, 0x7e00, 0x7c01}) {
    Buffer bytes = Encoded(SplitPrecision::kFloat16, values, 10);
    std::memcpy(bytes.data() + 2 * 23, &half, sizeof(half));
    EXPECT_EQ(Refused(SplitPrecision::kFloat16, bytes, 10, 30),
              "value 3 of sample 2 received at the split point is not finite");
  }
  // Infinite, NaN, negative, and one that 127 makes infinite.
  for (const std::uint32_t bits : {0x7f800000U, 0x7fc00000U, 0x80000000U, 0xbf800000U, 0x7f000000U}) {
    Buffer bytes = Encoded(SplitPrecision::kInt8, values, 10);
    std::memcpy(bytes.data() + 14, &bits, sizeof(bits));
    EXPECT_EQ(Refused(SplitPrecision::kInt8, bytes, 10, 30),
              "the scale of sample 1 received at the split point is negative or not finite");
  }
  Buffer bytes = Encoded(SplitPrecision::kInt8, values, 10);
  bytes[14 + 4 + 6] = std::byte{0x80};
  EXPECT_EQ(Refused(SplitPrecision::kInt8, bytes, 10, 30),
            "value 6 of sample 1 received at the split point is −128; the minimum is −127");
}

}  // namespace
}  // namespace tributary::inline policy
