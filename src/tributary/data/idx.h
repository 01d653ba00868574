#pragma once

#include <cstddef>

#include "tributary/base/file.h"
#include "tributary/base/status.h"
#include "tributary/data/dataset.h"

namespace tributary::inline data {

// The IDX format of MNIST and its relatives: two zero bytes, a type, a rank, the sides as big-endian 32-bit
// numbers, then the values. Only unsigned bytes are read. Nothing is copied: what is returned views the bytes
// given. Any bytes give a value or an error that says at which byte what was expected and what was found.

struct IdxImages {
  std::size_t count = 0;
  std::size_t height = 0;
  std::size_t width = 0;
  ByteSpan pixels;  // count · height · width, row by row.
};

// Rank 3, every side of an image at least 1.
StatusOr<IdxImages> ParseIdxImages(ByteSpan bytes);
// Rank 1.
StatusOr<ByteSpan> ParseIdxLabels(ByteSpan bytes);

// A one-channel data set of an images file and its labels file. The shape in `info` is set from the images.
StatusOr<Dataset> DatasetFromIdx(DatasetInfo info, ByteSpan images, ByteSpan labels);

}  // namespace tributary::inline data
