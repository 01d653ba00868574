#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tributary/base/file.h"
#include "tributary/base/status.h"

namespace tributary::inline data {

// A picture: row by row, the channels of a pixel together. One channel is grey, three are red, green and blue.
struct Image {
  std::size_t width = 0;
  std::size_t height = 0;
  std::size_t channels = 0;
  std::vector<std::uint8_t> pixels;

  friend bool operator==(const Image&, const Image&) = default;
};

// What a file's heading may claim: larger pictures are refused before any memory is taken for them.
struct ImageLimits {
  std::size_t side = 65'535;
  std::size_t pixels = 100'000'000;
  int scans = 200;  // of a progressive JPEG; each costs time for the whole picture
};

// Whether this program was built with PNG and JPEG.
bool KnowsImages();

// Reads a PNG or a JPEG, told apart by its first bytes. Any bytes give an image or an error that says what is wrong.
//
// PNG: any depth, palette, interlaced. Of 16 bits the upper 8 are kept, and transparency is left out, as Pillow and
// torchvision do. JPEG: grey and colour, baseline and progressive; CMYK is refused. A picture that is cut short, or whose
// check sums are wrong, is refused, and so is one with data that cannot be decoded. A picture that is grey as it is stored
// has one channel. Turning by EXIF and colour profiles are ignored.
StatusOr<Image> DecodeImage(ByteSpan bytes, const ImageLimits& limits = {});

// The same picture with 1 or 3 channels. Grey is 0.299 red + 0.587 green + 0.114 blue.
Image WithChannels(Image image, std::size_t channels);

// The same picture in another size, both sides at least 1, stretched where they are not in proportion: bilinear, averaging
// over what a pixel stands for when it becomes smaller (the same numbers as Pillow's BILINEAR).
Image Resized(const Image& image, std::size_t width, std::size_t height);

// The decoders behind DecodeImage, each on the library of its format (image_formats.cc).
StatusOr<Image> DecodePng(ByteSpan bytes, const ImageLimits& limits);
StatusOr<Image> DecodeJpeg(ByteSpan bytes, const ImageLimits& limits);

// What a heading claims, before memory is taken for it.
Status CheckImageSize(std::size_t width, std::size_t height, const ImageLimits& limits);

}  // namespace tributary::inline data
