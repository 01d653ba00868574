#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "tributary/base/file.h"
#include "tributary/base/status.h"
#include "tributary/data/dataset.h"

namespace tributary::inline data {

// The forms in which MNIST, CIFAR and their relatives are published.

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

// The binary files of CIFAR: records of a fixed size, without a header. A record is the label and then
// 3·32·32 bytes, channel by channel and row by row. CIFAR-100 has two labels, of which the second, finer one
// is kept.
enum class CifarKind { kCifar10, kCifar100 };

constexpr std::size_t kCifarPixels = 3 * 32 * 32;

struct CifarSamples {
  std::vector<std::uint8_t> pixels;
  std::vector<std::int32_t> labels;
};

constexpr int CifarClasses(CifarKind kind) { return kind == CifarKind::kCifar10 ? 10 : 100; }

// Appends the records of one file to `samples`, or changes nothing: on a file that is empty or no whole
// number of records, or a label out of range, with the byte where it stands.
Status AppendCifar(ByteSpan bytes, CifarKind kind, CifarSamples& samples);

// The bytes that a gzip file (one or several members) holds. Refused as soon as they would be more than
// `limit`, so a small file that unpacks to a huge one costs no more memory than that; and when the file is
// cut short, its check sum is wrong, or something else follows it.
StatusOr<std::vector<std::byte>> Gunzip(ByteSpan compressed, Bytes limit);

// The file at `path`, or unpacked from `path`.gz when only that exists. `limit` bounds the bytes returned.
// When there is neither, the error is kNotFound and names both.
StatusOr<std::vector<std::byte>> ReadPlainOrGzip(const std::filesystem::path& path, Bytes limit);

}  // namespace tributary::inline data
