#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/status.h"

namespace tributary::inline model {

// The header of a safetensors file as it was written down: well-formed, but nothing in it is checked against
// the data, nor one tensor against another. For safetensors.cc.
struct SafetensorsHeader {
  struct Entry {
    std::string name;
    std::string dtype;
    std::vector<std::uint64_t> shape;
    std::vector<std::uint64_t> offsets;  // Two: begin and end.
  };

  std::vector<Entry> entries;
  std::map<std::string, std::string> metadata;
};

// The name under which the format keeps metadata; no tensor can have it.
inline constexpr std::string_view kSafetensorsMetadata = "__metadata__";

// Takes time and memory in proportion to the text, however deep it nests.
StatusOr<SafetensorsHeader> ParseSafetensorsHeader(std::string_view json);

// Number of elements, or nothing when it does not fit in 64 bits.
std::optional<std::uint64_t> ElementsOf(std::span<const std::uint64_t> shape);

// For messages: "10x512" ("scalar" when empty), and a name in quotes, shortened, without control characters.
std::string DescribeShape(std::span<const std::uint64_t> shape);
std::string QuoteName(std::string_view name);

}  // namespace tributary::inline model
