#include "tributary/data/image.h"

#include <gtest/gtest.h>

#include "tributary/data/testing_images.h"

namespace tributary::inline data {
namespace {

using namespace testing;
using Pixels = std::vector<std::uint8_t>;

ByteSpan BytesOf(const Pixels& file) { return std::as_bytes(std::span(file)); }

Image Read(const Pixels& file) {
  auto image = DecodeImage(BytesOf(file));
  EXPECT_TRUE(image.ok()) << image.status();
  return image.ok() ? *image : Image{};
}

std::string Refusal(const Pixels& file, const ImageLimits& limits = {}) {
  return DecodeImage(BytesOf(file), limits).status().message();
}

TEST(DecodeImage, ReadsEveryKindOfPngAsPillowDoes) {
  EXPECT_EQ(Read(kRgbPng), (Image{5, 4, 3, kRgbPixels}));
  EXPECT_EQ(Read(kGreyPng), (Image{5, 4, 1, kGreyPixels}));
  EXPECT_EQ(Read(kAlphaPng), (Image{5, 4, 3, kRgbPixels}));
  EXPECT_EQ(Read(kPalettePng), (Image{5, 4, 3, kPalettePixels}));
  EXPECT_EQ(Read(kInterlacedPng), (Image{5, 4, 3, kRgbPixels}));
  EXPECT_EQ(Read(kDeepPng), (Image{5, 4, 3, kRgbPixels}));
  EXPECT_EQ(Read(kBitsPng), (Image{5, 4, 1, kBitsPixels}));
}

// Libraries may round the transform and the colours differently.
void ExpectNear(const Image& image, const Pixels& expected) {
  ASSERT_EQ(image.pixels.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(image.pixels[i], expected[i], 2) << i;
}

TEST(DecodeImage, ReadsJpegAsPillowDoes) {
  const Image colour = Read(kJpeg), grey = Read(kGreyJpeg), progressive = Read(kProgressiveJpeg);
  EXPECT_EQ(colour.width, 32U);
  EXPECT_EQ(colour.height, 24U);
  EXPECT_EQ(grey.channels, 1U);
  ExpectNear(colour, kJpegPixels);
  ExpectNear(grey, kGreyJpegPixels);
  ExpectNear(progressive, kProgressivePixels);
}

TEST(DecodeImage, RefusesHugePicturesByTheirHeading) {
  EXPECT_EQ(Refusal(kHugePng),
            "the picture is 60000 x 60000 pixels; allowed: sides up to 65535 and 100000000 pixels in all");
  EXPECT_NE(Refusal(kHugeJpeg).find("65500 x 65500 pixels"), std::string::npos) << Refusal(kHugeJpeg);
  EXPECT_NE(Refusal(kRgbPng, {.side = 4}).find("5 x 4 pixels; allowed: sides up to 4"), std::string::npos);
  EXPECT_NE(Refusal(kRgbPng, {.pixels = 19}).find("19 pixels in all"), std::string::npos);
  EXPECT_TRUE(DecodeImage(BytesOf(kRgbPng), {.side = 5, .pixels = 20}).ok());
}

TEST(DecodeImage, RefusesMoreScansThanAllowed) {
  EXPECT_EQ(Refusal(kProgressiveJpeg, {.scans = 2}), "JPEG: it has more than 2 scans");
  EXPECT_TRUE(DecodeImage(BytesOf(kProgressiveJpeg), {.scans = 20}).ok());
}

TEST(DecodeImage, RefusesWhatIsCutShortWhereverThatIs) {
  for (const Pixels& file : {kRgbPng, kInterlacedPng, kPalettePng, kJpeg, kProgressiveJpeg, kGreyJpeg}) {
    for (std::size_t size = 0; size + 2 < file.size(); size += 1 + size / 40) {
      const Pixels part(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_FALSE(DecodeImage(BytesOf(part)).ok()) << size << " of " << file.size();
    }
  }
}

TEST(DecodeImage, SaysWhatIsWrong) {
  EXPECT_EQ(Refusal({}), "the file is empty");
  EXPECT_EQ(Refusal({'G', 'I', 'F', '8'}), "it is neither PNG nor JPEG, by its first bytes");
  EXPECT_EQ(Refusal(kCmykJpeg), "JPEG: its colours are CMYK, for printing; convert it to RGB");
  Pixels changed = kRgbPng;
  changed[changed.size() - 20] ^= 1;  // in the pixels, under their check sum
  EXPECT_NE(Refusal(changed).find("PNG: "), std::string::npos) << Refusal(changed);
}

TEST(WithChannels, GreyIsPillowsAndColourRepeatsIt) {
  EXPECT_EQ(WithChannels({5, 4, 3, kRgbPixels}, 1).pixels, kGreyPixels);
  const Image back = WithChannels({2, 1, 1, {7, 9}}, 3);
  EXPECT_EQ(back.pixels, (Pixels{7, 7, 7, 9, 9, 9}));
}

TEST(Resized, IsPillowsBilinear) {
  EXPECT_EQ(Resized({32, 24, 3, kBigPixels}, 7, 5).pixels, kSmallerPixels);
  EXPECT_EQ(Resized({5, 4, 3, kRgbPixels}, 9, 10).pixels, kLargerPixels);
  EXPECT_EQ(Resized({5, 4, 3, kRgbPixels}, 5, 4).pixels, kRgbPixels);
}

TEST(Resized, KeepsWhatIsEverywhereTheSame) {
  for (const std::size_t width : {1U, 2U, 13U, 100U}) {
    for (const std::size_t height : {1U, 3U, 50U}) {
      const Image image = Resized({6, 7, 1, Pixels(42, 200)}, width, height);
      EXPECT_EQ(image.pixels, Pixels(width * height, 200));
    }
  }
}

}  // namespace
}  // namespace tributary::inline data
