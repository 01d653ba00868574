#include "tributary/keys/authority_folder.h"

#include <openssl/err.h>

#include <algorithm>
#include <limits>
#include <set>

#include "tributary/base/file.h"
#include "tributary/base/names.h"
#include "tributary/keys/party_name.h"

namespace tributary::inline keys {
namespace {

namespace fs = std::filesystem;

// Reads a file and parses its text; errors name the file.
template <typename T>
StatusOr<T> Read(const fs::path& path, StatusOr<T> (*parse)(std::string_view)) {
  TRIBUTARY_ASSIGN_OR_RETURN(const std::string text, ReadText(path));
  return parse(text).WithContext(path.string());
}

bool Fits(const X509& certificate, const EVP_PKEY& key) {
  const bool fits = X509_check_private_key(&certificate, &key) == 1;
  ERR_clear_error();
  return fits;
}

// The key in `dir`, with its certificate among those in ca.pem.
StatusOr<KeyPair> ReadKeys(const fs::path& dir, const Passphrase& passphrase) {
  TRIBUTARY_ASSIGN_OR_RETURN(auto certificates, Read(dir / "ca.pem", ParseCertificates));
  TRIBUTARY_ASSIGN_OR_RETURN(const std::string pem, ReadSecret(dir / "ca.key"));
  KeyPair keys;
  TRIBUTARY_ASSIGN_OR_RETURN(keys.key, ParseKey(pem, passphrase).WithContext((dir / "ca.key").string()));
  for (CertificatePtr& certificate : certificates) {
    if (!Fits(*certificate, *keys.key)) continue;
    keys.certificate = std::move(certificate);
    return keys;
  }
  return InvalidArgument((dir / "ca.key").string() + " is not the key of the ca.pem beside it");
}

StatusOr<Revocations> ReadRevoked(const fs::path& dir, X509& authority) {
  const fs::path path = dir / "revoked.pem";
  TRIBUTARY_ASSIGN_OR_RETURN(const auto lists, Read(path, ParseCrls));
  for (const CrlPtr& crl : lists) {
    if (SignedBy(*crl, authority)) return ReadRevocations(*crl);
  }
  return Corrupt(path.string() + " was not signed by the authority beside it");
}

// The previous authority: none, one that is still trusted, or one that is being removed.
enum class Previous { kNone, kTrusted, kRetired };
Previous PreviousOf(const fs::path& dir) {
  std::error_code ignored;
  if (!fs::exists(dir / "old" / "issued.txt", ignored)) return Previous::kNone;
  if (!fs::exists(dir / "old" / "ca.key", ignored)) return Previous::kRetired;
  // Equal keys: the rotation was interrupted before it took effect.
  const auto previous = ReadText(dir / "old" / "ca.key"), current = ReadText(dir / "ca.key");
  return previous.ok() && current.ok() && *previous == *current ? Previous::kNone : Previous::kTrusted;
}

}  // namespace

Status CheckIsAuthority(const fs::path& dir) {
  std::error_code ignored;
  if (fs::exists(dir / "ca.pem", ignored)) return OkStatus();
  return NotFound(dir.string() +
                  " is not the folder of an authority (it has no ca.pem); 'tributary keys init' "
                  "creates one");
}

StatusOr<std::vector<IssuedCertificate>> ReadIssued(const fs::path& dir) {
  TRIBUTARY_RETURN_IF_ERROR(CheckIsAuthority(dir));
  TRIBUTARY_ASSIGN_OR_RETURN(const auto authorities, Read(dir / "ca.pem", ParseCertificates));
  std::set<std::string, std::less<>> revoked, previous;
  for (const CertificatePtr& authority : authorities) {
    TRIBUTARY_ASSIGN_OR_RETURN(const Revocations list, ReadRevoked(dir, *authority));
    for (const auto& [serial, since] : list.serials) revoked.insert(serial);
  }
  if (PreviousOf(dir) != Previous::kNone) {
    TRIBUTARY_ASSIGN_OR_RETURN(const auto old, Read(dir / "old" / "issued.txt", ParseIssued));
    for (const IssuedCertificate& one : old) previous.insert(one.serial);
  }
  TRIBUTARY_ASSIGN_OR_RETURN(auto issued, Read(dir / "issued.txt", ParseIssued));
  for (IssuedCertificate& one : issued) {
    one.revoked = revoked.contains(one.serial);
    one.previous = previous.contains(one.serial);
  }
  return issued;
}

Status WriteRevoked(const fs::path& dir, std::span<const Issuer> issuers, std::time_t now,
                    std::chrono::days validity) {
  std::string text;
  for (const Issuer& issuer : issuers) {
    TRIBUTARY_ASSIGN_OR_RETURN(const CrlPtr crl,
                               SignRevocations(issuer.keys, issuer.revocations, now, validity));
    TRIBUTARY_ASSIGN_OR_RETURN(const std::string pem, ToPem(*crl));
    text += pem;
  }
  return WriteFileAtomically(dir / "revoked.pem", text);
}

Status WriteBundle(const fs::path& folder, const std::string& authority_pem, const KeyPair& party) {
  TRIBUTARY_ASSIGN_OR_RETURN(const std::string certificate_pem, ToPem(*party.certificate));
  if (party.key) {
    TRIBUTARY_ASSIGN_OR_RETURN(const std::string key_pem, ToPem(*party.key));
    TRIBUTARY_RETURN_IF_ERROR(WritePrivateFileAtomically(folder / "key.pem", key_pem));
  }
  TRIBUTARY_RETURN_IF_ERROR(WriteFileAtomically(folder / "ca.pem", authority_pem));
  return WriteFileAtomically(folder / "cert.pem", certificate_pem);
}

StatusOr<IssuedCertificate> Describe(const X509& certificate, const Party& party) {
  TRIBUTARY_ASSIGN_OR_RETURN(const std::time_t not_after, ToTime(*X509_get0_notAfter(&certificate)));
  return IssuedCertificate{.name = party.name,
                           .serial = SerialText(*X509_get0_serialNumber(&certificate)),
                           .not_after = not_after,
                           .role = party.role};
}

StatusOr<AuthorityFolder> AuthorityFolder::Open(const fs::path& dir, const Passphrase& passphrase) {
  TRIBUTARY_RETURN_IF_ERROR(CheckIsAuthority(dir));
  TRIBUTARY_ASSIGN_OR_RETURN(FolderLock lock, FolderLock::Take(dir));
  AuthorityFolder folder(dir, std::move(lock));
  std::vector<fs::path> places = {dir};
  if (PreviousOf(dir) == Previous::kTrusted) places.push_back(dir / "old");
  for (const fs::path& place : places) {
    Issuer& issuer = folder.issuers_.emplace_back();
    TRIBUTARY_ASSIGN_OR_RETURN(issuer.keys, ReadKeys(place, passphrase));
    TRIBUTARY_ASSIGN_OR_RETURN(issuer.revocations, ReadRevoked(dir, *issuer.keys.certificate));
  }
  TRIBUTARY_ASSIGN_OR_RETURN(folder.issued_, ReadIssued(dir));
  TRIBUTARY_RETURN_IF_ERROR(folder.Mend());
  return folder;
}

Status AuthorityFolder::Mend() {
  TRIBUTARY_ASSIGN_OR_RETURN(const std::string trusted, TrustedPem());
  TRIBUTARY_ASSIGN_OR_RETURN(const std::string written, ReadText(dir_ / "ca.pem"));
  if (written != trusted) TRIBUTARY_RETURN_IF_ERROR(WriteTrusted());
  if (PreviousOf(dir_) != Previous::kRetired) return OkStatus();
  std::erase_if(issued_, [](const IssuedCertificate& one) { return one.previous; });
  TRIBUTARY_RETURN_IF_ERROR(WriteFileAtomically(dir_ / "issued.txt", FormatIssued(issued_)));
  std::error_code error;
  fs::remove_all(dir_ / "old", error);
  return error ? SystemError("cannot remove", dir_ / "old", error.value()) : OkStatus();
}

StatusOr<std::string> AuthorityFolder::TrustedPem() const {
  std::string text;
  for (const Issuer& issuer : issuers_) {
    TRIBUTARY_ASSIGN_OR_RETURN(const std::string pem, ToPem(*issuer.keys.certificate));
    text += pem;
  }
  return text;
}

fs::path AuthorityFolder::Bundle(const Party& party) const {
  if (RoleOfName(party.name) != Role::kDevice) return dir_ / party.name;
  return dir_ / (std::string(NameOf(party.role)) + "s") / party.name;
}

Status AuthorityFolder::Record(const IssuedCertificate& certificate) {
  issued_.push_back(certificate);
  return WriteFileAtomically(dir_ / "issued.txt", FormatIssued(issued_));
}

StatusOr<int> AuthorityFolder::Revoke(std::string_view name,
                                      const std::function<bool(const IssuedCertificate&)>& which,
                                      std::time_t now, std::chrono::days list_validity) {
  int count = 0;
  for (IssuedCertificate& one : issued_) {
    if (one.name != name || one.revoked || !which(one)) continue;
    issuers_[one.previous ? 1 : 0].revocations.serials.emplace(one.serial, now);
    one.revoked = true;
    ++count;
  }
  if (count > 0) TRIBUTARY_RETURN_IF_ERROR(RenewList(now, list_validity).status());
  return count;
}

StatusOr<std::time_t> AuthorityFolder::RenewList(std::time_t now, std::chrono::days list_validity) {
  for (Issuer& issuer : issuers_) ++issuer.revocations.number;
  TRIBUTARY_RETURN_IF_ERROR(WriteRevoked(dir_, issuers_, now, list_validity));
  std::time_t first = std::numeric_limits<std::time_t>::max();
  for (const Issuer& issuer : issuers_) {
    TRIBUTARY_ASSIGN_OR_RETURN(const Revocations written, ReadRevoked(dir_, *issuer.keys.certificate));
    first = std::min(first, written.next_update);
  }
  return first;
}

Status AuthorityFolder::CheckKnown(std::string_view name) const {
  std::vector<std::string> names;
  for (const IssuedCertificate& one : issued_) {
    if (one.name == name) return OkStatus();
    if (std::ranges::find(names, one.name) == names.end()) names.push_back(one.name);
  }
  return UnknownName("party", name, names);
}

Status AuthorityFolder::Rotate(KeyPair next, const std::string& key_pem, std::time_t now,
                               std::chrono::days list_validity) {
  TRIBUTARY_CHECK(!rotating());
  TRIBUTARY_ASSIGN_OR_RETURN(const std::string old_pem, ToPem(*keys().certificate));
  TRIBUTARY_ASSIGN_OR_RETURN(const std::string old_key, ReadSecret(dir_ / "ca.key"));
  TRIBUTARY_ASSIGN_OR_RETURN(StagedFolder staged, StagedFolder::Create(dir_ / "old"));
  TRIBUTARY_RETURN_IF_ERROR(WritePrivateFileAtomically(staged.path() / "ca.key", old_key));
  TRIBUTARY_RETURN_IF_ERROR(WriteFileAtomically(staged.path() / "ca.pem", old_pem));
  TRIBUTARY_RETURN_IF_ERROR(WriteFileAtomically(staged.path() / "issued.txt", FormatIssued(issued_)));
  TRIBUTARY_RETURN_IF_ERROR(std::move(staged).Replace());
  issuers_.insert(issuers_.begin(), Issuer{std::move(next), {}});
  for (IssuedCertificate& one : issued_) one.previous = true;
  // Until ca.key is replaced, the folder is the old authority's: its certificate and list are still there. ca.pem comes
  // before the bundles, because it tells Mend that they may have changed.
  TRIBUTARY_ASSIGN_OR_RETURN(const std::string trusted, TrustedPem());
  TRIBUTARY_RETURN_IF_ERROR(RenewList(now, list_validity).status());
  TRIBUTARY_RETURN_IF_ERROR(WriteFileAtomically(dir_ / "ca.pem", trusted));
  TRIBUTARY_RETURN_IF_ERROR(WriteTrusted());
  return WritePrivateFileAtomically(dir_ / "ca.key", key_pem);
}

Status AuthorityFolder::Retire(std::time_t now, std::chrono::days list_validity) {
  // From here on the previous authority can sign nothing.
  std::error_code error;
  fs::remove(dir_ / "old" / "ca.key", error);
  if (error) return SystemError("cannot remove", dir_ / "old" / "ca.key", error.value());
  issuers_.resize(1);
  TRIBUTARY_RETURN_IF_ERROR(Mend());
  return RenewList(now, list_validity).status();
}

Status AuthorityFolder::WriteTrusted() const {
  TRIBUTARY_ASSIGN_OR_RETURN(const std::string trusted, TrustedPem());
  for (const IssuedCertificate& one : issued_) {
    const fs::path bundle = Bundle({one.name, one.role});
    std::error_code ignored;
    if (fs::exists(bundle / "cert.pem", ignored))
      TRIBUTARY_RETURN_IF_ERROR(WriteFileAtomically(bundle / "ca.pem", trusted));
  }
  return WriteFileAtomically(dir_ / "ca.pem", trusted);
}

}  // namespace tributary::inline keys
