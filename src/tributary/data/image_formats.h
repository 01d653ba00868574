#pragma once

#include "tributary/data/image.h"

namespace tributary::inline data {

// The decoders behind DecodeImage, each on the library of its format.
StatusOr<Image> DecodePng(ByteSpan bytes, const ImageLimits& limits);
StatusOr<Image> DecodeJpeg(ByteSpan bytes, const ImageLimits& limits);

// What a heading claims, before memory is taken for it.
Status CheckImageSize(std::size_t width, std::size_t height, const ImageLimits& limits);

}  // namespace tributary::inline data
