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

// The parsed header of a safetensors file: well-formed, but not checked against the data, nor one tensor
// against another. For safetensors.cc.
struct SafetensorsHeader {
  struct Entry {
    std::string name;
    std::string dtype;
    std::vector<std::uint64_t> shape;
    std::vector<std::uint64_t> offsets;  // begin and end
  };

  std::vector<Entry> entries;
  std::map<std::string, std::string> metadata;
};

// The reserved name of the metadata, which no tensor can have.
inline constexpr std::string_view kSafetensorsMetadata = "__metadata__";

// Time and memory are linear in the text, for any nesting.
StatusOr<SafetensorsHeader> ParseSafetensorsHeader(std::string_view json);

// The number of elements; nullopt if it does not fit in 64 bits.
std::optional<std::uint64_t> ElementsOf(std::span<const std::uint64_t> shape);

// For messages: "10x512" ("scalar" if empty), and a quoted, shortened name without control characters.
std::string DescribeShape(std::span<const std::uint64_t> shape);
std::string QuoteName(std::string_view name);

}  // namespace tributary::inline model
