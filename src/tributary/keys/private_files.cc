#include "tributary/keys/private_files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>

namespace tributary::inline keys {
namespace {

constexpr Bytes kLongestText{16 << 20};  // Enough for a revocation list of some hundred thousand devices.

Status Remove(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::remove_all(folder, error);
  return error ? SystemError("cannot remove", folder, error.value()) : OkStatus();
}

}  // namespace

StatusOr<std::string> ReadText(const std::filesystem::path& path) {
  TRIBUTARY_ASSIGN_OR_RETURN(const auto bytes, ReadFile(path, kLongestText));
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

StatusOr<FolderLock> FolderLock::Take(const std::filesystem::path& folder) {
  Descriptor file(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (file.get() < 0) return SystemError("cannot open", folder, errno);
  while (::flock(file.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return SystemError("cannot lock", folder, errno);
  }
  return FolderLock(std::move(file));
}

StatusOr<StagedFolder> StagedFolder::Create(const std::filesystem::path& target) {
  const std::filesystem::path path = FolderOfFile(target) / ("." + target.filename().string() + ".new");
  TRIBUTARY_RETURN_IF_ERROR(Remove(path));
  TRIBUTARY_RETURN_IF_ERROR(MakePrivateFolder(path));
  return StagedFolder(path, target);
}

StagedFolder::StagedFolder(StagedFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})), target_(std::move(other.target_)) {}

StagedFolder::~StagedFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

Status StagedFolder::Publish() && {
  if (::rename(path_.c_str(), target_.c_str()) != 0) return SystemError("cannot make", target_, errno);
  path_.clear();
  (void)SyncFolder(FolderOfFile(target_));  // A power failure can undo the rename without this.
  return OkStatus();
}

Status StagedFolder::Replace() && {
  TRIBUTARY_RETURN_IF_ERROR(Remove(target_));
  return std::move(*this).Publish();
}

Status MakePrivateFolder(const std::filesystem::path& path) {
  return ::mkdir(path.c_str(), 0700) == 0 ? OkStatus() : SystemError("cannot make", path, errno);
}

}  // namespace tributary::inline keys
