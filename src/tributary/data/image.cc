#include "tributary/data/image.h"

#include <array>
#include <cstring>

#include "tributary/data/image_formats.h"

namespace tributary {
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
    return ResourceExhausted("the picture is " + std::to_string(width) + " x " + std::to_string(height) +
                             " pixels; allowed: sides up to " + std::to_string(limits.side) + " and " +
                             std::to_string(limits.pixels) + " pixels in all");
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
  if (!png && !BeginsWith(bytes, kJpeg)) {
    return Corrupt(bytes.empty() ? "the file is empty" : "it is neither PNG nor JPEG, by its first bytes");
  }
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
      // In sixteenths of a bit, as Pillow rounds.
      result.pixels[i] =
          static_cast<std::uint8_t>((rgb[0] * 19595U + rgb[1] * 38470U + rgb[2] * 7471U + 0x8000U) >> 16);
    }
  }
  return result;
}

}  // namespace tributary
