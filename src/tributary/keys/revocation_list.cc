#include "tributary/keys/revocation_list.h"

#include <fmt/format.h>

#include <algorithm>

#include "tributary/keys/issued.h"
#include "tributary/keys/private_files.h"
#include "tributary/keys/x509.h"

namespace tributary::inline keys {
namespace {

constexpr std::time_t kWarnBefore = 14 * 24 * 60 * 60;
constexpr const char* kRenewal = "renew it with 'tributary keys renew-list' where ca.key is";

}  // namespace

StatusOr<std::unique_ptr<RevocationList>> RevocationList::Load(const std::filesystem::path& path,
                                                               std::string_view authority_pem,
                                                               RevocationListOptions options) {
  std::unique_ptr<RevocationList> list(new RevocationList(std::move(options)));
  list->path_ = path;
  {
    const MutexLock lock(list->mutex_);
    TRIBUTARY_RETURN_IF_ERROR(list->SetTrusted(authority_pem));
    TRIBUTARY_RETURN_IF_ERROR(list->TakeNewest(Use::kNumbers));
  }
  TRIBUTARY_RETURN_IF_ERROR(list->Refresh());
  return list;
}

StatusOr<std::unique_ptr<RevocationList>> RevocationList::Receive(std::string_view authority_pem,
                                                                  RevocationListOptions options) {
  std::unique_ptr<RevocationList> list(new RevocationList(std::move(options)));
  const MutexLock lock(list->mutex_);
  TRIBUTARY_RETURN_IF_ERROR(list->SetTrusted(authority_pem));
  TRIBUTARY_RETURN_IF_ERROR(list->TakeNewest(Use::kKept));
  return list;
}

Status RevocationList::SetTrusted(std::string_view authority_pem) {
  TRIBUTARY_ASSIGN_OR_RETURN(const auto authorities, ParseCertificates(authority_pem));
  std::vector<Issued> trusted;
  for (const CertificatePtr& authority : authorities) {
    TRIBUTARY_ASSIGN_OR_RETURN(std::string pem, ToPem(*authority));
    const auto known = std::ranges::find(trusted_, pem, &Issued::authority_pem);
    trusted.push_back(known == trusted_.end() ? Issued{.authority_pem = std::move(pem)} : *known);
  }
  trusted_ = std::move(trusted);
  stamp_ = {};
  return OkStatus();
}

Status RevocationList::Trust(std::string_view authority_pem) {
  const MutexLock lock(mutex_);
  return SetTrusted(authority_pem);
}

Status RevocationList::Check(std::string_view certificate_pem) const {
  TRIBUTARY_ASSIGN_OR_RETURN(const CertificatePtr certificate, ParseCertificate(certificate_pem));
  TRIBUTARY_ASSIGN_OR_RETURN(const Party party, PartyOf(*certificate));
  std::vector<std::string> trusted;
  {
    const MutexLock lock(mutex_);
    for (const Issued& issued : trusted_) trusted.push_back(issued.authority_pem);
  }
  // A serial number is only unique within its authority.
  const auto signer = std::ranges::find_if(trusted, [&](const std::string& pem) {
    const auto authority = ParseCertificate(pem);
    return authority.ok() && SignedBy(*certificate, **authority);
  });
  const std::string serial = SerialText(*X509_get0_serialNumber(certificate.get()));
  const MutexLock lock(mutex_);
  const auto issued =
      signer == trusted.end() ? trusted_.end() : std::ranges::find(trusted_, *signer, &Issued::authority_pem);
  if (issued == trusted_.end()) {
    return InvalidArgument("the certificate of '" + party.name +
                           "' was not signed by the authority of this fleet");
  }
  if (issued->serials.contains(serial))
    return InvalidArgument("the certificate of '" + party.name + "' has been revoked");
  if (issued->pem.empty()) {
    return Unavailable("there is no revocation list yet of the authority that signed the certificate of '" +
                       party.name + "'; copy revoked.pem from the authority's folder to the coordinator");
  }
  if (Now() <= issued->next_update) return OkStatus();
  return Unavailable("the coordinator's revocation list expired on " + FormatUtc(issued->next_update) +
                     ", so it admits nobody; " + kRenewal);
}

std::string RevocationList::Warning() const {
  const MutexLock lock(mutex_);
  for (const Issued& issued : trusted_) {
    if (issued.pem.empty() || Now() < issued.next_update - kWarnBefore) continue;
    return fmt::format("{} expires on {}, and then no device is admitted; {}, and copy it here",
                       path_.string(), FormatUtc(issued.next_update), kRenewal);
  }
  return "";
}

std::time_t RevocationList::Now() const {
  return std::chrono::duration_cast<std::chrono::seconds>(options_.wall_clock()).count();
}

std::string RevocationList::Text() const {
  const MutexLock lock(mutex_);
  return TextLocked();
}

std::string RevocationList::TextLocked() const {
  std::string text;
  for (const Issued& issued : trusted_) text += issued.pem;
  return text;
}

Status RevocationList::Refresh() {
  const MutexLock lock(mutex_);
  if (path_.empty()) return OkStatus();
  // The stamp is taken before reading, so that a change in between is noticed next time.
  TRIBUTARY_ASSIGN_OR_RETURN(const FileStamp stamp, StampOf(path_));
  if (stamp == stamp_) return OkStatus();
  TRIBUTARY_ASSIGN_OR_RETURN(const std::string pem, ReadText(path_));
  TRIBUTARY_RETURN_IF_ERROR(Take(pem, path_.string(), Use::kFile));
  stamp_ = stamp;
  // Last: a full disk must not prevent a revocation.
  return WriteNewest();
}

Status RevocationList::Accept(std::string_view pem) {
  const MutexLock lock(mutex_);
  TRIBUTARY_RETURN_IF_ERROR(Take(pem, "the revocation list", Use::kMessage));
  return WriteNewest();
}

Status RevocationList::TakeNewest(Use use) {
  std::error_code error;
  if (options_.newest.empty() || !std::filesystem::exists(options_.newest, error)) return OkStatus();
  TRIBUTARY_ASSIGN_OR_RETURN(const std::string pem, ReadText(options_.newest));
  return Take(pem, options_.newest.string(), use);
}

Status RevocationList::WriteNewest() {
  std::string text = TextLocked();
  if (options_.newest.empty() || text == written_) return OkStatus();
  TRIBUTARY_RETURN_IF_ERROR(WritePrivateFileAtomically(options_.newest, text));
  written_ = std::move(text);
  return OkStatus();
}

Status RevocationList::Take(std::string_view pem, const std::string& origin, Use use) {
  if (pem.size() > kLongestRevocations) {
    return InvalidArgument(
        fmt::format("{} has {} bytes; allowed: {}. Replace the authority with 'tributary keys "
                    "rotate', which begins an empty list",
                    origin, pem.size(), kLongestRevocations));
  }
  TRIBUTARY_ASSIGN_OR_RETURN(const auto lists, ParseCrls(pem).WithContext(origin));
  std::vector<Issued> taken = trusted_;
  std::size_t found = 0;
  const bool fresh = use == Use::kFile || use == Use::kMessage;
  for (Issued& issued : taken) {
    TRIBUTARY_ASSIGN_OR_RETURN(const CertificatePtr authority, ParseCertificate(issued.authority_pem));
    const auto list =
        std::ranges::find_if(lists, [&](const CrlPtr& crl) { return SignedBy(*crl, *authority); });
    if (list == lists.end()) {
      if (use != Use::kFile) continue;
      return InvalidArgument(origin + " was not signed by the authority of this fleet: it has no list of '" +
                             AuthorityName(*authority) +
                             "'; copy revoked.pem and ca.pem from the same authority's folder");
    }
    ++found;
    TRIBUTARY_ASSIGN_OR_RETURN(const Revocations read, ReadRevocations(**list).WithContext(origin));
    if (read.number < issued.number) {
      return InvalidArgument(
          fmt::format("{} is an older revocation list (number {}) than the newest one accepted here (number "
                      "{}); copy the "
                      "newest revoked.pem from the authority's folder",
                      origin, read.number, issued.number));
    }
    if (fresh && Now() > read.next_update) {
      return InvalidArgument(fmt::format("{} expired on {}; {}, and copy it here", origin,
                                         FormatUtc(read.next_update), kRenewal));
    }
    issued.number = read.number;
    if (use == Use::kNumbers) continue;
    TRIBUTARY_ASSIGN_OR_RETURN(issued.pem, ToPem(**list));
    issued.next_update = read.next_update;
    issued.serials.clear();
    for (const auto& [serial, since] : read.serials) issued.serials.insert(serial);
  }
  if (use == Use::kMessage && found == 0)
    return InvalidArgument(origin + " was not signed by the authority of this fleet");
  trusted_ = std::move(taken);
  return OkStatus();
}

}  // namespace tributary::inline keys
