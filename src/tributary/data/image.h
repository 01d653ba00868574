#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tributary/base/file.h"
#include "tributary/base/status.h"

namespace tributary::inline data {

// A picture in row order with interleaved channels. One channel is grey, three are red, green and blue.
struct Image {
  std::size_t width = 0;
  std::size_t height = 0;
  std::size_t channels = 0;
  std::vector<std::uint8_t> pixels;

  friend bool operator==(const Image&, const Image&) = default;
};

// Limits checked against a file's header before memory is allocated.
struct ImageLimits {
  std::size_t side = 65'535;
  std::size_t pixels = 100'000'000;
  int scans = 200;  // of a progressive JPEG; each takes time for the whole picture
};

// Whether this program was built with PNG and JPEG support.
bool KnowsImages();

// Decodes a PNG or JPEG, distinguished by its first bytes. Safe on arbitrary bytes.
//
// PNG: any depth, palette, interlaced. 16-bit values are reduced to their upper 8 bits and transparency is
// ignored, as in Pillow and torchvision. JPEG: grey and colour, baseline and progressive; CMYK is refused.
// Truncated pictures, wrong checksums and undecodable data are errors. A picture stored as grey has one
// channel. EXIF rotation and colour profiles are ignored.
StatusOr<Image> DecodeImage(ByteSpan bytes, const ImageLimits& limits = {});

// Converts to 1 or 3 channels. Grey is 0.299 red + 0.587 green + 0.114 blue.
Image WithChannels(Image image, std::size_t channels);

// Resizes, without keeping the aspect ratio; both sides at least 1. Bilinear, averaging the covered area when
// shrinking: the same results as Pillow's BILINEAR.
Image Resized(const Image& image, std::size_t width, std::size_t height);

// The decoders of DecodeImage, in image_formats.cc.
StatusOr<Image> DecodePng(ByteSpan bytes, const ImageLimits& limits);
StatusOr<Image> DecodeJpeg(ByteSpan bytes, const ImageLimits& limits);

// Checks the size in a header before memory is allocated.
Status CheckImageSize(std::size_t width, std::size_t height, const ImageLimits& limits);

}  // namespace tributary::inline data
