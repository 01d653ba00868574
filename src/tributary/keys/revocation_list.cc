#include "tributary/keys/revocation_list.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>

#include "tributary/base/file.h"
#include "tributary/keys/issued.h"
#include "tributary/keys/private_files.h"
#include "tributary/keys/x509.h"

namespace tributary::inline keys {
namespace {

std::int64_t Nanoseconds(const timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

constexpr std::time_t kWarnBefore = 14 * 24 * 60 * 60;
constexpr const char* kRenewal = "renew it with 'tributary keys renew-list' where ca.key is";

StatusOr<Revocations> ParseList(const std::filesystem::path& path, std::string_view pem,
                                std::string_view authority_pem) {
  TRIBUTARY_ASSIGN_OR_RETURN(const CertificatePtr authority, ParseCertificate(authority_pem));
  TRIBUTARY_ASSIGN_OR_RETURN(const CrlPtr crl, ParseCrl(pem).WithContext(path.string()));
  if (!SignedBy(*crl, *authority))
    return InvalidArgument(path.string() + " was not signed by the authority of this fleet");
  return ReadRevocations(*crl).WithContext(path.string());
}

}  // namespace

StatusOr<std::unique_ptr<RevocationList>> RevocationList::Load(const std::filesystem::path& path,
                                                               std::string_view authority_pem,
                                                               RevocationListOptions options) {
  std::unique_ptr<RevocationList> list(new RevocationList(path, authority_pem, std::move(options)));
  std::error_code error;
  if (const auto& newest = list->options_.newest; !newest.empty() && std::filesystem::exists(newest, error)) {
    TRIBUTARY_ASSIGN_OR_RETURN(const std::string pem, ReadText(newest));
    const auto kept = ParseList(newest, pem, authority_pem);
    // A list of another authority is ignored.
    if (kept.status().code() == StatusCode::kCorrupt) return kept.status();
    const MutexLock lock(list->mutex_);
    if (kept.ok()) list->number_ = kept->number;
  }
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
  if (Now() <= next_update_) return OkStatus();
  return Unavailable("the coordinator's revocation list expired on " + FormatUtc(next_update_) +
                     ", so it admits nobody; " + kRenewal);
}

std::string RevocationList::Warning() const {
  const MutexLock lock(mutex_);
  if (Now() < next_update_ - kWarnBefore) return "";
  return fmt::format("{} expires on {}, and then no device is admitted; {}, and copy it here", path_.string(),
                     FormatUtc(next_update_), kRenewal);
}

std::time_t RevocationList::Now() const {
  return std::chrono::duration_cast<std::chrono::seconds>(options_.wall_clock()).count();
}

Status RevocationList::Refresh() {
  const MutexLock lock(mutex_);
  // The stamp is taken before reading, so that a change in between is noticed next time.
  TRIBUTARY_ASSIGN_OR_RETURN(const Stamp stamp, Look());
  if (stamp == stamp_) return OkStatus();
  TRIBUTARY_ASSIGN_OR_RETURN(const std::string pem, ReadText(path_));
  TRIBUTARY_ASSIGN_OR_RETURN(const Revocations read, ParseList(path_, pem, authority_pem_));
  if (read.number < number_) {
    return InvalidArgument(fmt::format(
        "{} is an older revocation list (number {}) than the newest one accepted here (number {}); copy the "
        "newest revoked.pem from the authority's folder",
        path_.string(), read.number, number_));
  }
  if (Now() > read.next_update) {
    return InvalidArgument(fmt::format("{} expired on {}; {}, and copy it here", path_.string(),
                                       FormatUtc(read.next_update), kRenewal));
  }
  stamp_ = stamp;
  number_ = read.number;
  next_update_ = read.next_update;
  serials_.clear();
  for (const auto& [serial, since] : read.serials) serials_.insert(serial);
  // Last: a full disk must not prevent a revocation.
  return options_.newest.empty() ? OkStatus() : WritePrivateFileAtomically(options_.newest, pem);
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
