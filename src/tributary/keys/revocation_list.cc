#include "tributary/keys/revocation_list.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>

#include "tributary/base/file.h"
#include "tributary/keys/private_files.h"
#include "tributary/keys/x509.h"

namespace tributary::inline keys {
namespace {

std::int64_t Nanoseconds(const timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

StatusOr<Revocations> Read(const std::filesystem::path& path, std::string_view authority_pem) {
  TRIBUTARY_ASSIGN_OR_RETURN(const std::string pem, ReadText(path));
  TRIBUTARY_ASSIGN_OR_RETURN(const CertificatePtr authority, ParseCertificate(authority_pem));
  TRIBUTARY_ASSIGN_OR_RETURN(const CrlPtr crl, ParseCrl(pem).WithContext(path.string()));
  if (!SignedBy(*crl, *authority))
    return InvalidArgument(path.string() + " was not signed by the authority of this fleet");
  return ReadRevocations(*crl).WithContext(path.string());
}

}  // namespace

StatusOr<std::unique_ptr<RevocationList>> RevocationList::Load(const std::filesystem::path& path,
                                                               std::string_view authority_pem) {
  std::unique_ptr<RevocationList> list(new RevocationList(path, authority_pem));
  TRIBUTARY_RETURN_IF_ERROR(list->Refresh());
  return list;
}

Status RevocationList::Check(std::string_view certificate_pem) const {
  TRIBUTARY_ASSIGN_OR_RETURN(const CertificatePtr certificate, ParseCertificate(certificate_pem));
  TRIBUTARY_ASSIGN_OR_RETURN(const std::string name, PartyName(*certificate));
  TRIBUTARY_ASSIGN_OR_RETURN(const CertificatePtr authority, ParseCertificate(authority_pem_));
  // A serial number is only unique within its authority.
  if (!SignedBy(*certificate, *authority))
    return InvalidArgument("the certificate of '" + name + "' was not signed by the authority of this fleet");
  const std::string serial = SerialText(*X509_get0_serialNumber(certificate.get()));
  const MutexLock lock(mutex_);
  if (serials_.contains(serial)) return InvalidArgument("the certificate of '" + name + "' has been revoked");
  return OkStatus();
}

Status RevocationList::Refresh() {
  const MutexLock lock(mutex_);
  // The stamp is taken before reading, so that a change in between is noticed next time.
  TRIBUTARY_ASSIGN_OR_RETURN(const Stamp stamp, Look());
  if (stamp == stamp_) return OkStatus();
  TRIBUTARY_ASSIGN_OR_RETURN(const Revocations read, Read(path_, authority_pem_));
  if (read.number < number_) {
    return InvalidArgument(
        fmt::format("{} is an older revocation list (number {}) than the one in force (number {})",
                    path_.string(), read.number, number_));
  }
  stamp_ = stamp;
  number_ = read.number;
  serials_.clear();
  for (const auto& [serial, since] : read.serials) serials_.insert(serial);
  return OkStatus();
}

StatusOr<RevocationList::Stamp> RevocationList::Look() const {
  struct stat info {};
  if (::stat(path_.c_str(), &info) != 0) return SystemError("cannot open", path_, errno);
  return Stamp{.device = info.st_dev,
               .inode = info.st_ino,
               .size = static_cast<std::uint64_t>(info.st_size),
               .modified_ns = Nanoseconds(info.st_mtim),
               .changed_ns = Nanoseconds(info.st_ctim)};
}

}  // namespace tributary::inline keys
