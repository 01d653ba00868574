#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tributary/base/file.h"
#include "tributary/base/status.h"

namespace tributary::inline data {

// The binary files of CIFAR: records of a fixed size, without a header. A record is the label and then
// 3·32·32 bytes, channel by channel and row by row. CIFAR-100 has two labels, of which the second, finer one
// is kept.
enum class CifarKind { kCifar10, kCifar100 };

constexpr std::size_t kCifarPixels = 3 * 32 * 32;

struct CifarSamples {
  std::vector<std::uint8_t> pixels;
  std::vector<std::int32_t> labels;
};

int CifarClasses(CifarKind kind);

// Appends the records of one file to `samples`, or changes nothing: on a file that is empty or no whole
// number of records, or a label out of range, with the byte where it stands.
Status AppendCifar(ByteSpan bytes, CifarKind kind, CifarSamples& samples);

}  // namespace tributary::inline data
