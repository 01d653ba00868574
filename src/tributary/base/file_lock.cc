#include "tributary/base/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

namespace tributary::inline base {

StatusOr<FileLock> FileLock::Acquire(const std::filesystem::path& path) {
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (file.get() < 0)
    return InvalidArgument("cannot open the lock file " + path.string() + ": " + std::strerror(errno));
  // Earlier versions created the file readable for all, which is enough to lock it.
  (void)::fchmod(file.get(), 0600);
  int result = 0;
  do {
    result = ::flock(file.get(), LOCK_EX | LOCK_NB);
  } while (result != 0 && errno == EINTR);
  if (result == 0) return FileLock(std::move(file));
  if (errno == EWOULDBLOCK) return Unavailable("another process holds the lock " + path.string());
  return IoError("cannot lock " + path.string() + ": " + std::strerror(errno));
}

}  // namespace tributary::inline base
