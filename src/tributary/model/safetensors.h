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

// The safetensors format (github.com/huggingface/safetensors): eight bytes of header length, a JSON header
// that gives each tensor's name, type, shape and place, and the tensors' bytes, all little-endian. Files pass
// both ways between this code and the Python library, but for its types that are not listed below.

// What a file holds. `bytes` look into the memory that was parsed, on no particular boundary: copy them to
// where floats may lie.
struct SafetensorsView {
  struct Tensor {
    std::string name;
    // F64, F32, F16, BF16, I64, I32, I16, I8, U8 or BOOL.
    std::string dtype;
    // Sizes are ≥ 0; no sizes at all is a scalar. They and the type agree with the number of bytes.
    std::vector<std::int64_t> shape;
    ByteSpan bytes;
  };

  // In the order of their bytes, whatever the header's was. Names differ.
  std::vector<Tensor> tensors;
  std::map<std::string, std::string> metadata;
};

// Reads a whole file that is in memory. Any bytes may be given: what is not a valid file is refused, saying
// which tensor claims what and what was expected. As in the Python library, tensors must cover the data
// without gaps, overlaps or a rest; stricter than there, names must not repeat, and a tensor has its three
// fields and no other.
StatusOr<SafetensorsView> ParseSafetensors(ByteSpan file);

// The largest header that is read or written, as in the Python library.
inline constexpr std::size_t kLargestSafetensorsHeader = 100'000'000;

// A tensor to be written, as F32. The values are not copied; they must live until the write returns.
struct SafetensorsSource {
  std::string name;
  std::vector<std::int64_t> shape;
  std::span<const float> values;
};

// Replaces `path` by a file of these tensors, in this order, or leaves it as it was. The same input gives the
// same bytes. Refused: names that repeat or are not UTF-8, and shapes that do not fit their values.
Status WriteSafetensors(const std::filesystem::path& path, std::span<const SafetensorsSource> tensors,
                        const std::map<std::string, std::string>& metadata);

}  // namespace tributary::inline model
