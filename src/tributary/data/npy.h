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

// NumPy's .npy files: versions 1, 2 and 3 of the header; little-endian integers and floating-point numbers; C
// order; at most eight dimensions. Anything else (objects, structures, Fortran order, big-endian) is refused
// by name.

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

// NumPy's own name: "uint8", "float32", …
std::string_view NpyTypeName(NpyType type);

// An array whose header has been checked against the bytes that follow it. `bytes` views what was parsed.
struct NpyArray {
  NpyType type = NpyType::kUint8;
  std::vector<std::size_t> shape;
  std::size_t count = 0;  // The product of the shape; 1 for a scalar.
  ByteSpan bytes;         // count values, least significant byte first.
};

// Any bytes give an array or an error that says at which byte what was expected and found. Costs no memory
// beyond the shape, whatever the header claims.
StatusOr<NpyArray> ParseNpy(ByteSpan bytes);

// The values as floats. Large integers and doubles are rounded; a double beyond the range of float becomes
// infinite.
std::vector<float> NpyToFloats(const NpyArray& array);

// The values as integers. Refused at the first one that is not whole or does not fit into 63 bits and a sign.
StatusOr<std::vector<std::int64_t>> NpyToIntegers(const NpyArray& array);

// A version-1 file. The number of values must be the product of the shape, which has at most eight sides.
std::vector<std::byte> FormatNpy(std::span<const std::size_t> shape, std::span<const float> values);
std::vector<std::byte> FormatNpy(std::span<const std::size_t> shape, std::span<const std::int64_t> values);
Status WriteNpy(const std::filesystem::path& path, std::span<const std::size_t> shape,
                std::span<const float> values);
Status WriteNpy(const std::filesystem::path& path, std::span<const std::size_t> shape,
                std::span<const std::int64_t> values);

}  // namespace tributary::inline data
