#include "tributary/data/image.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "tributary/base/check.h"

namespace tributary::inline data {
namespace {

constexpr std::array<std::uint8_t, 8> kPng = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
constexpr std::array<std::uint8_t, 3> kJpeg = {0xff, 0xd8, 0xff};

template <std::size_t n>
bool BeginsWith(ByteSpan bytes, const std::array<std::uint8_t, n>& signature) {
  return bytes.size() >= n && std::memcmp(bytes.data(), signature.data(), n) == 0;
}

}  // namespace

Status CheckImageSize(std::size_t width, std::size_t height, const ImageLimits& limits) {
  if (width == 0 || height == 0) return Corrupt("the picture has no pixels");
  if (width > limits.side || height > limits.side || width > limits.pixels / height) {
    return ResourceExhausted(
        fmt::format("the picture is {} x {} pixels; allowed: sides up to {} and {} pixels in all", width,
                    height, limits.side, limits.pixels));
  }
  return OkStatus();
}

bool KnowsImages() {
#ifdef TRIBUTARY_IMAGES
  return true;
#else
  return false;
#endif
}

StatusOr<Image> DecodeImage(ByteSpan bytes, const ImageLimits& limits) {
  const bool png = BeginsWith(bytes, kPng);
  if (!png && !BeginsWith(bytes, kJpeg))
    return Corrupt(bytes.empty() ? "the file is empty" : "it is neither PNG nor JPEG, by its first bytes");
#ifdef TRIBUTARY_IMAGES
  return png ? DecodePng(bytes, limits) : DecodeJpeg(bytes, limits);
#else
  (void)limits;
  return InvalidArgument("this program was built without PNG and JPEG (TRIBUTARY_IMAGES)");
#endif
}

Image WithChannels(Image image, std::size_t channels) {
  if (image.channels == channels) return image;
  Image result{image.width, image.height, channels, {}};
  const std::size_t pixels = image.width * image.height;
  result.pixels.resize(pixels * channels);
  for (std::size_t i = 0; i < pixels; ++i) {
    if (channels == 3) {
      std::memset(&result.pixels[3 * i], image.pixels[i], 3);
    } else {
      const std::uint8_t* rgb = &image.pixels[3 * i];
      // 16-bit fixed point, with Pillow's rounding.
      result.pixels[i] =
          static_cast<std::uint8_t>((rgb[0] * 19595U + rgb[1] * 38470U + rgb[2] * 7471U + 0x8000U) >> 16);
    }
  }
  return result;
}

namespace {

// Fixed-point weights, so that every machine rounds alike.
constexpr int kWeightBits = 22;

// The source pixels and weights of one target pixel along a line.
struct Taps {
  std::size_t first = 0;
  std::vector<std::int32_t> weights;
};

// A triangle filter around each target pixel's centre, widened by the scale when shrinking.
std::vector<Taps> TapsOf(std::size_t from, std::size_t to) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  const double reach = std::max(scale, 1.0);
  std::vector<Taps> all(to);
  for (std::size_t i = 0; i < to; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * scale;
    const auto low = static_cast<std::ptrdiff_t>(std::max(0.0, centre - reach + 0.5));
    const auto high =
        std::min(static_cast<std::ptrdiff_t>(centre + reach + 0.5), static_cast<std::ptrdiff_t>(from));
    std::vector<double> weights;
    double sum = 0;
    for (std::ptrdiff_t x = low; x < high; ++x) {
      weights.push_back(std::max(0.0, 1 - std::abs((static_cast<double>(x) - centre + 0.5) / reach)));
      sum += weights.back();
    }
    all[i].first = static_cast<std::size_t>(low);
    for (const double weight : weights)
      all[i].weights.push_back(static_cast<std::int32_t>(0.5 + weight / sum * (1 << kWeightBits)));
  }
  return all;
}

// Filters along a line whose pixels are `stride` bytes apart.
std::uint8_t Mix(const std::uint8_t* line, std::size_t stride, const Taps& taps) {
  std::int64_t sum = std::int64_t{1} << (kWeightBits - 1);
  const std::uint8_t* pixel = line + taps.first * stride;
  for (const std::int32_t weight : taps.weights) {
    sum += std::int64_t{*pixel} * weight;
    pixel += stride;
  }
  return static_cast<std::uint8_t>(std::clamp<std::int64_t>(sum >> kWeightBits, 0, 255));
}

}  // namespace

Image Resized(const Image& image, std::size_t width, std::size_t height) {
  TRIBUTARY_CHECK(width > 0 && height > 0);
  const std::size_t channels = image.channels;
  Image wide{width, image.height, channels, {}};
  if (width == image.width) {
    wide.pixels = image.pixels;
  } else {
    const std::vector<Taps> taps = TapsOf(image.width, width);
    wide.pixels.resize(width * image.height * channels);
    std::size_t out = 0;
    for (std::size_t y = 0; y < image.height; ++y) {
      const std::uint8_t* line = image.pixels.data() + y * image.width * channels;
      for (const Taps& tap : taps) {
        for (std::size_t c = 0; c < channels; ++c) wide.pixels[out++] = Mix(line + c, channels, tap);
      }
    }
  }
  if (height == image.height) return wide;
  const std::vector<Taps> taps = TapsOf(image.height, height);
  const std::size_t row = width * channels;
  Image result{width, height, channels, {}};
  result.pixels.resize(row * height);
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < row; ++x)
      result.pixels[y * row + x] = Mix(wide.pixels.data() + x, row, taps[y]);
  }
  return result;
}

}  // namespace tributary::inline data
