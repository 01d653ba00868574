#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "tributary/base/file.h"
#include "tributary/base/status.h"

namespace tributary::inline data {

// NumPy's .npy files: header versions 1 to 3, little-endian integers and floating-point numbers, C order, at
// most eight dimensions. Objects, structures, Fortran order and big-endian values have specific errors.

enum class NpyType {
  kUint8,
  kUint16,
  kUint32,
  kUint64,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kFloat16,
  kFloat32,
  kFloat64
};

// NumPy's name: "uint8", "float32", …
std::string_view NpyTypeName(NpyType type);

// An array whose header matches the bytes that follow it. `bytes` points into the parsed memory.
struct NpyArray {
  NpyType type = NpyType::kUint8;
  std::vector<std::size_t> shape;
  std::size_t count = 0;  // product of the shape; 1 for a scalar
  ByteSpan bytes;         // `count` little-endian values
};

// Safe on arbitrary bytes; errors give the byte offset, what was expected and what was found. Allocates only
// the shape, whatever the header claims.
StatusOr<NpyArray> ParseNpy(ByteSpan bytes);

// The values as floats, with rounding; doubles beyond the range of float become infinite.
std::vector<float> NpyToFloats(const NpyArray& array);

// The values as integers. Fails at the first value that is not whole or does not fit into int64.
StatusOr<std::vector<std::int64_t>> NpyToIntegers(const NpyArray& array);

// A version-1 file. The number of values is the product of the shape, which has at most eight dimensions.
std::vector<std::byte> FormatNpy(std::span<const std::size_t> shape, std::span<const float> values);
std::vector<std::byte> FormatNpy(std::span<const std::size_t> shape, std::span<const std::int64_t> values);
Status WriteNpy(const std::filesystem::path& path, std::span<const std::size_t> shape,
                std::span<const float> values);
Status WriteNpy(const std::filesystem::path& path, std::span<const std::size_t> shape,
                std::span<const std::int64_t> values);

}  // namespace tributary::inline data
