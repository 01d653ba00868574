#include "tributary/base/file_stamp.h"

#include <sys/stat.h>

#include <cerrno>

#include "tributary/base/file.h"

namespace tributary::inline base {

StatusOr<FileStamp> StampOf(const std::filesystem::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return SystemError("cannot open", path, errno);
  const auto nanoseconds = [](const timespec& time) {
    return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
  };
  return FileStamp{.device = info.st_dev,
                   .inode = info.st_ino,
                   .size = static_cast<std::uint64_t>(info.st_size),
                   .modified_ns = nanoseconds(info.st_mtim),
                   .changed_ns = nanoseconds(info.st_ctim)};
}

}  // namespace tributary::inline base
