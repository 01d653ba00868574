#pragma once

#include <filesystem>

#include "tributary/base/status.h"

namespace tributary::inline base {

// Keeps a second process (or a second owner in this one) from doing the same thing at the same time. The lock is the
// kernel's, on an empty file that stays: it ends with the object, and with the process however that dies. Only the file's
// owner can open it (mode 0600), so no other user can hold the lock.
class FileLock {
 public:
  // Unavailable, at once, if somebody else holds it. The file is made if it is not there.
  static StatusOr<FileLock> Acquire(const std::filesystem::path& path);

  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock();

 private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
};

}  // namespace tributary::inline base
