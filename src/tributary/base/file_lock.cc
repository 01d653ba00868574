#include "tributary/base/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace tributary::inline base {

StatusOr<FileLock> FileLock::Acquire(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0)
    return InvalidArgument("cannot open the lock file " + path.string() + ": " + std::strerror(errno));
  FileLock lock(descriptor);
  (void)::fchmod(descriptor, 0600);  // Earlier versions made the file readable, which is enough to lock it.
  int result = 0;
  do {
    result = ::flock(descriptor, LOCK_EX | LOCK_NB);
  } while (result != 0 && errno == EINTR);
  if (result == 0) return lock;
  if (errno == EWOULDBLOCK) return Unavailable("another process holds the lock " + path.string());
  return IoError("cannot lock " + path.string() + ": " + std::strerror(errno));
}

FileLock::FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

FileLock::~FileLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace tributary::inline base
