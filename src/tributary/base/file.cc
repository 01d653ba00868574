#include "tributary/base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace tributary::inline base {
namespace {

constexpr std::string_view kUnique = ".XXXXXX";  // mkostemp replaces the X's

enum class Access { kOrdinary, kOwnerOnly };

// Creates a new file beside `path` with default permissions or mode 0600.
StatusOr<std::pair<Descriptor, std::filesystem::path>> CreateBeside(const std::filesystem::path& path,
                                                                    Access access) {
  std::string name = (FolderOfFile(path) / ("." + path.filename().string() + std::string(kUnique))).string();
  Descriptor file(::mkostemp(name.data(), O_CLOEXEC));
  if (file.get() < 0) return SystemError("cannot write", path, errno);
  if (access == Access::kOrdinary) {
    const mode_t mask = ::umask(0);
    ::umask(mask);
    ::fchmod(file.get(), 0666 & ~mask);
  }
  return std::pair(std::move(file), std::filesystem::path(name));
}

int WriteAll(int descriptor, ByteSpan bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return 0;
}

Status Replace(const std::filesystem::path& path, std::span<const ByteSpan> pieces, Access access) {
  TRIBUTARY_ASSIGN_OR_RETURN(auto created, CreateBeside(path, access));
  auto& [file, temporary] = created;
  int error = 0;
  for (const ByteSpan piece : pieces) {
    error = WriteAll(file.get(), piece);
    if (error != 0) break;
  }
  if (error == 0 && ::fsync(file.get()) != 0) error = errno;
  if (file.Close() != 0 && error == 0) error = errno;
  if (error == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) {
    ::unlink(temporary.c_str());
    return SystemError("cannot write", path, error);
  }
  // Without this a power failure can undo the rename. The file exists in any case, so a failure (for example,
  // a folder without read permission) is ignored.
  (void)SyncFolder(FolderOfFile(path));
  return OkStatus();
}

}  // namespace

int Descriptor::Close() {
  const int descriptor = std::exchange(value_, -1);
  return descriptor >= 0 ? ::close(descriptor) : 0;
}

Status SystemError(std::string_view doing, const std::filesystem::path& path, int error) {
  const std::string message = std::string(doing) + " " + path.string() + ": " + std::strerror(error);
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return NotFound(message);
    case EISDIR:
    case EACCES:
    case EPERM:
    case EROFS:
    case ENAMETOOLONG:
      return InvalidArgument(message);
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return ResourceExhausted(message);
    default:
      return IoError(message);
  }
}

StatusOr<std::vector<std::byte>> ReadFile(const std::filesystem::path& path, Bytes limit) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return SystemError("cannot open", path, errno);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return SystemError("cannot read", path, errno);
  if (S_ISDIR(info.st_mode))
    return InvalidArgument("cannot read " + path.string() + ": it is a folder, not a file");
  const auto too_large = [&] {
    return ResourceExhausted(path.string() + " is larger than the " + FormatBytes(limit) +
                             " allowed for such a file");
  };
  if (info.st_size > limit.value) return too_large();

  // The size is only a hint (a pipe has none, a file may grow): read until the end or the limit.
  std::vector<std::byte> bytes;
  bytes.reserve(static_cast<std::size_t>(info.st_size) + 1);
  while (true) {
    const std::size_t filled = bytes.size();
    bytes.resize(std::max<std::size_t>(bytes.capacity(), filled + 65536));
    const ssize_t got = ::read(file.get(), bytes.data() + filled, bytes.size() - filled);
    const int error = errno;
    bytes.resize(filled + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && error == EINTR) continue;
    if (got < 0) return SystemError("cannot read", path, error);
    if (got == 0) return bytes;
    if (static_cast<std::int64_t>(bytes.size()) > limit.value) return too_large();
  }
}

StatusOr<std::string> ReadSecret(const std::filesystem::path& path) {
  constexpr Bytes kLongest{1 << 20};
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return SystemError("cannot open", path, errno);
  if ((info.st_mode & 077U) != 0) {
    std::array<char, 8> mode{};
    std::snprintf(mode.data(), mode.size(), "%04o", static_cast<unsigned>(info.st_mode & 07777U));
    return InvalidArgument(path.string() +
                           " is a secret, but others than its owner have access to it (mode " + mode.data() +
                           "); restrict it with: chmod 600 " + path.string());
  }
  TRIBUTARY_ASSIGN_OR_RETURN(const auto bytes, ReadFile(path, kLongest));
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

StatusOr<std::string> ReadPassword(const std::filesystem::path& path) {
  TRIBUTARY_ASSIGN_OR_RETURN(std::string text, ReadSecret(path));
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  if (!text.empty() && text.find_first_of(std::string_view("\n\0", 2)) == std::string::npos) return text;
  return InvalidArgument(path.string() + " holds no password; write it into the file as its only line");
}

Status WriteFileAtomically(const std::filesystem::path& path, std::span<const ByteSpan> pieces) {
  return Replace(path, pieces, Access::kOrdinary);
}

Status WriteFileAtomically(const std::filesystem::path& path, std::string_view text) {
  const std::array<ByteSpan, 1> pieces = {std::as_bytes(std::span(text))};
  return Replace(path, pieces, Access::kOrdinary);
}

Status WritePrivateFileAtomically(const std::filesystem::path& path, std::span<const ByteSpan> pieces) {
  return Replace(path, pieces, Access::kOwnerOnly);
}

Status WritePrivateFileAtomically(const std::filesystem::path& path, std::string_view text) {
  const std::array<ByteSpan, 1> pieces = {std::as_bytes(std::span(text))};
  return Replace(path, pieces, Access::kOwnerOnly);
}

Status MakePrivateFolders(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return OkStatus();
  if (path.has_parent_path()) TRIBUTARY_RETURN_IF_ERROR(MakePrivateFolders(path.parent_path()));
  if (::mkdir(path.c_str(), 0700) == 0) return OkStatus();
  const int reason = errno == EEXIST ? ENOTDIR : errno;
  return std::filesystem::is_directory(path, error) ? OkStatus()
                                                    : SystemError("cannot make the folder", path, reason);
}

Status SyncFolder(const std::filesystem::path& folder) {
  const Descriptor file(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some file systems return EINVAL because they do not support it; that is not an error.
  if (file.get() < 0 || (::fsync(file.get()) != 0 && errno != EINVAL))
    return SystemError("cannot force to disk the folder", folder, errno);
  return OkStatus();
}

std::string_view TargetOfTemporary(std::string_view name) {
  if (name.size() < kUnique.size() + 2 || !name.starts_with('.')) return {};
  const std::string_view unique = name.substr(name.size() - kUnique.size());
  const bool fits =
      unique.front() == '.' && std::all_of(unique.begin() + 1, unique.end(),
                                           [](unsigned char letter) { return std::isalnum(letter) != 0; });
  return fits ? name.substr(1, name.size() - 1 - kUnique.size()) : std::string_view();
}

Status CheckWritable(const std::filesystem::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode))
    return InvalidArgument("cannot write " + path.string() + ": it is a folder; give a file name in it");
  TRIBUTARY_ASSIGN_OR_RETURN(const auto created, CreateBeside(path, Access::kOrdinary));
  ::unlink(created.second.c_str());
  return OkStatus();
}

}  // namespace tributary::inline base
