#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "tributary/base/file.h"
#include "tributary/base/status.h"

namespace tributary::inline model {

// The safetensors format (github.com/huggingface/safetensors), little-endian: eight bytes of header length, a
// JSON header with each tensor's name, type, shape and offsets, then the tensors' bytes. Compatible with the
// Python library in both directions, except for types that are not listed below.

// The content of a file. `bytes` points into the parsed memory without alignment: copy it to aligned floats.
struct SafetensorsView {
  struct Tensor {
    std::string name;
    // F64, F32, F16, BF16, I64, I32, I16, I8, U8 or BOOL.
    std::string dtype;
    // Sizes ≥ 0, empty for a scalar. Consistent with the type and the number of bytes.
    std::vector<std::int64_t> shape;
    ByteSpan bytes;
  };

  // In the order of their bytes, not of the header. Names are unique.
  std::vector<Tensor> tensors;
  std::map<std::string, std::string> metadata;
};

// Parses a whole file in memory. Safe on arbitrary bytes: an invalid file is an error that names the tensor,
// its claim and the expectation. As in the Python library, tensors must cover the data without gaps, overlaps
// or a rest. Stricter than there, names must be unique, and a tensor has exactly its three fields.
StatusOr<SafetensorsView> ParseSafetensors(ByteSpan file);

// Maximum header size for reading and writing, as in the Python library.
inline constexpr std::size_t kLargestSafetensorsHeader = 100'000'000;

// A tensor to be written as F32. The values are not copied and must live until the write returns.
struct SafetensorsSource {
  std::string name;
  std::vector<std::int64_t> shape;
  std::span<const float> values;
};

// Atomically replaces `path` with a file of these tensors in this order. Equal input gives equal bytes. Fails
// for repeated names, names that are not UTF-8, and shapes that do not match the values.
Status WriteSafetensors(const std::filesystem::path& path, std::span<const SafetensorsSource> tensors,
                        const std::map<std::string, std::string>& metadata);

}  // namespace tributary::inline model
