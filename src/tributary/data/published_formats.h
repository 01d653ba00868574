#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "tributary/base/file.h"
#include "tributary/base/status.h"
#include "tributary/data/dataset.h"

namespace tributary::inline data {

// File formats of MNIST, CIFAR and related sets.

// IDX, the format of MNIST: two zero bytes, a type, a rank, the sizes as big-endian 32-bit numbers, then the
// values. Only unsigned bytes are supported. Results point into the given bytes. Safe on arbitrary bytes;
// errors give the byte offset, what was expected and what was found.
struct IdxImages {
  std::size_t count = 0;
  std::size_t height = 0;
  std::size_t width = 0;
  ByteSpan pixels;  // count · height · width, row by row
};

// Rank 3; height and width at least 1.
StatusOr<IdxImages> ParseIdxImages(ByteSpan bytes);
// Rank 1.
StatusOr<ByteSpan> ParseIdxLabels(ByteSpan bytes);

// A one-channel data set from an image file and a label file. Sets the shape in `info`.
StatusOr<Dataset> DatasetFromIdx(DatasetInfo info, ByteSpan images, ByteSpan labels);

// CIFAR's binary files: fixed-size records without a header, each a label and 3·32·32 bytes in the order
// channel, row. CIFAR-100 has two labels; the second, finer label is used.
enum class CifarKind { kCifar10, kCifar100 };

constexpr std::size_t kCifarPixels = 3 * 32 * 32;

struct CifarSamples {
  std::vector<std::uint8_t> pixels;
  std::vector<std::int32_t> labels;
};

constexpr int CifarClasses(CifarKind kind) { return kind == CifarKind::kCifar10 ? 10 : 100; }

// Appends the records of one file to `samples`. Fails without a change if the file is empty or no multiple of
// the record size, or if a label is out of range (with its offset).
Status AppendCifar(ByteSpan bytes, CifarKind kind, CifarSamples& samples);

// Unpacks a gzip file (one or several members). Fails as soon as the result exceeds `limit`, so a small file
// cannot take more memory; also if the file is truncated, its checksum is wrong, or other data follows.
StatusOr<std::vector<std::byte>> Gunzip(ByteSpan compressed, Bytes limit);

// Reads `path`, or unpacks `path`.gz if only that exists. `limit` bounds the result. If neither exists, the
// error is kNotFound and names both.
StatusOr<std::vector<std::byte>> ReadPlainOrGzip(const std::filesystem::path& path, Bytes limit);

}  // namespace tributary::inline data
