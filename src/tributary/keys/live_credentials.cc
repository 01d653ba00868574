#include "tributary/keys/live_credentials.h"

namespace tributary::inline keys {

Status LiveCredentials::Refresh() {
  const MutexLock lock(mutex_);
  const std::filesystem::path& folder = credentials_.folder;
  if (folder.empty()) return OkStatus();
  // Taken before reading, so that a change in between is noticed next time.
  std::array<FileStamp, 3> stamps;
  constexpr const char* kFiles[] = {"ca.pem", "cert.pem", "key.pem"};
  for (std::size_t i = 0; i < stamps.size(); ++i) {
    TRIBUTARY_ASSIGN_OR_RETURN(stamps[i], StampOf(folder / kFiles[i]));
  }
  if (stamps == stamps_) return OkStatus();
  TRIBUTARY_ASSIGN_OR_RETURN(Credentials read, LoadCredentials(folder));
  if (read.name != credentials_.name || read.role != credentials_.role) {
    return InvalidArgument(folder.string() + " now holds the keys of '" + read.name + "', not of '" +
                           credentials_.name + "'; restart to use them");
  }
  stamps_ = stamps;
  if (read.authority_pem == credentials_.authority_pem &&
      read.certificate_pem == credentials_.certificate_pem && read.key_pem == credentials_.key_pem) {
    return OkStatus();
  }
  credentials_ = std::move(read);
  ++version_;
  return OkStatus();
}

Credentials LiveCredentials::Get() const {
  const MutexLock lock(mutex_);
  return credentials_;
}

std::uint64_t LiveCredentials::version() const {
  const MutexLock lock(mutex_);
  return version_;
}

}  // namespace tributary::inline keys
