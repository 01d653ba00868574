#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "tributary/base/status.h"

namespace tributary::inline keys {

// A checksum published with a file.
struct Checksum {
  enum class Kind { kMd5, kSha256 };
  Kind kind = Kind::kSha256;
  std::string hex;  // lower case

  friend bool operator==(const Checksum&, const Checksum&) = default;
};

// The checksum of a file, which is read piece by piece.
StatusOr<Checksum> ChecksumOfFile(const std::filesystem::path& path, Checksum::Kind kind);

// The SHA-256 of a text, as hexadecimal digits.
StatusOr<std::string> Sha256(std::string_view text);

}  // namespace tributary::inline keys
