#pragma once

#include <cstdint>
#include <filesystem>

#include "tributary/base/status.h"

namespace tributary::inline base {

// Detects changes of a file without reading it.
struct FileStamp {
  std::uint64_t device = 0, inode = 0, size = 0;
  std::int64_t modified_ns = 0, changed_ns = 0;
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

// Fails if there is no such file.
StatusOr<FileStamp> StampOf(const std::filesystem::path& path);

}  // namespace tributary::inline base
