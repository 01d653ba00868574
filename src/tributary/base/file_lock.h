#pragma once

#include <filesystem>

#include "tributary/base/file.h"
#include "tributary/base/status.h"

namespace tributary::inline base {

// An exclusive lock between processes, and between owners in one process: the kernel locks an empty file that
// is never deleted. The lock is released with the object, or when the process ends for any reason. The file
// has mode 0600, so that no other user can take the lock.
class FileLock {
 public:
  // Creates the file if necessary. Returns Unavailable, without waiting, if the lock is held.
  static StatusOr<FileLock> Acquire(const std::filesystem::path& path);

 private:
  explicit FileLock(Descriptor file) : file_(std::move(file)) {}

  Descriptor file_;
};

}  // namespace tributary::inline base
