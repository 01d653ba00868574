#include "tributary/keys/authority_folder.h"

#include <openssl/err.h>

#include <algorithm>

#include "tributary/base/file.h"
#include "tributary/base/names.h"
#include "tributary/keys/party_name.h"

namespace tributary::inline keys {
namespace {

namespace fs = std::filesystem;

template <typename T>
StatusOr<T> Parse(const fs::path& path, StatusOr<std::string> text, StatusOr<T> (*parse)(std::string_view)) {
  if (!text.ok()) return std::move(text).status();
  StatusOr<T> parsed = parse(*text);
  if (!parsed.ok()) return std::move(parsed).status().WithContext(path.string());
  return parsed;
}

StatusOr<CertificatePtr> ReadAuthority(const fs::path& dir) {
  TRIBUTARY_RETURN_IF_ERROR(CheckIsAuthority(dir));
  return Parse(dir / "ca.pem", ReadText(dir / "ca.pem"), ParseCertificate);
}

StatusOr<Revocations> ReadRevoked(const fs::path& dir, X509& authority) {
  const fs::path path = dir / "revoked.pem";
  TRIBUTARY_ASSIGN_OR_RETURN(const CrlPtr crl, Parse(path, ReadText(path), ParseCrl));
  if (!SignedBy(*crl, authority))
    return Corrupt(path.string() + " was not signed by the authority beside it");
  return ReadRevocations(*crl);
}

StatusOr<std::vector<IssuedCertificate>> ReadIssuedAnd(const fs::path& dir, const Revocations& revocations) {
  const fs::path path = dir / "issued.txt";
  TRIBUTARY_ASSIGN_OR_RETURN(auto issued, Parse(path, ReadText(path), ParseIssued));
  for (IssuedCertificate& one : issued) one.revoked = revocations.serials.contains(one.serial);
  return issued;
}

}  // namespace

StatusOr<AuthorityFolder> AuthorityFolder::Open(const fs::path& dir) {
  TRIBUTARY_RETURN_IF_ERROR(CheckIsAuthority(dir));
  TRIBUTARY_ASSIGN_OR_RETURN(FolderLock lock, FolderLock::Take(dir));
  AuthorityFolder folder(dir, std::move(lock));
  TRIBUTARY_ASSIGN_OR_RETURN(folder.keys_.certificate, ReadAuthority(dir));
  TRIBUTARY_ASSIGN_OR_RETURN(folder.keys_.key, Parse(dir / "ca.key", ReadSecret(dir / "ca.key"), ParseKey));
  const bool fits = X509_check_private_key(folder.keys_.certificate.get(), folder.keys_.key.get()) == 1;
  ERR_clear_error();
  if (!fits) return InvalidArgument((dir / "ca.key").string() + " is not the key of the ca.pem beside it");
  TRIBUTARY_ASSIGN_OR_RETURN(folder.revocations_, ReadRevoked(dir, *folder.keys_.certificate));
  TRIBUTARY_ASSIGN_OR_RETURN(folder.issued_, ReadIssuedAnd(dir, folder.revocations_));
  return folder;
}

fs::path AuthorityFolder::Bundle(std::string_view name) const {
  return name == kCoordinatorName || name == kOperatorName ? dir_ / name : dir_ / "devices" / name;
}

Status AuthorityFolder::Record(const IssuedCertificate& certificate) {
  issued_.push_back(certificate);
  return WriteFileAtomically(dir_ / "issued.txt", FormatIssued(issued_));
}

StatusOr<int> AuthorityFolder::Revoke(std::string_view name, std::string_view except, std::time_t now) {
  int count = 0;
  for (IssuedCertificate& one : issued_) {
    if (one.name != name || one.revoked || one.serial == except) continue;
    revocations_.serials.emplace(one.serial, now);
    one.revoked = true;
    ++count;
  }
  if (count == 0) return 0;
  ++revocations_.number;
  TRIBUTARY_RETURN_IF_ERROR(WriteRevoked(dir_, keys_, revocations_, now));
  return count;
}

Status AuthorityFolder::CheckKnown(std::string_view name) const {
  std::vector<std::string> names;
  for (const IssuedCertificate& one : issued_) {
    if (one.name == name) return OkStatus();
    if (std::find(names.begin(), names.end(), one.name) == names.end()) names.push_back(one.name);
  }
  return UnknownName("party", name, names);
}

fs::path WithoutTrailingSlash(const fs::path& dir) { return dir.has_filename() ? dir : dir.parent_path(); }

Status CheckIsAuthority(const fs::path& dir) {
  std::error_code ignored;
  if (fs::exists(dir / "ca.pem", ignored)) return OkStatus();
  return NotFound(dir.string() +
                  " is not the folder of an authority (there is no ca.pem in it); 'tributary keys init' " +
                  "makes one");
}

StatusOr<std::vector<IssuedCertificate>> ReadIssued(const fs::path& dir) {
  TRIBUTARY_ASSIGN_OR_RETURN(const CertificatePtr authority, ReadAuthority(dir));
  TRIBUTARY_ASSIGN_OR_RETURN(const Revocations revocations, ReadRevoked(dir, *authority));
  return ReadIssuedAnd(dir, revocations);
}

Status WriteRevoked(const fs::path& dir, const KeyPair& authority, const Revocations& revocations,
                    std::time_t now) {
  TRIBUTARY_ASSIGN_OR_RETURN(const CrlPtr crl, SignRevocations(authority, revocations, now));
  TRIBUTARY_ASSIGN_OR_RETURN(const std::string pem, ToPem(*crl));
  return WriteFileAtomically(dir / "revoked.pem", pem);
}

Status WriteBundle(const fs::path& folder, const X509& authority, const KeyPair& party) {
  TRIBUTARY_ASSIGN_OR_RETURN(const std::string authority_pem, ToPem(authority));
  TRIBUTARY_ASSIGN_OR_RETURN(const std::string certificate_pem, ToPem(*party.certificate));
  TRIBUTARY_ASSIGN_OR_RETURN(const std::string key_pem, ToPem(*party.key));
  TRIBUTARY_RETURN_IF_ERROR(WritePrivateFileAtomically(folder / "key.pem", key_pem));
  TRIBUTARY_RETURN_IF_ERROR(WriteFileAtomically(folder / "ca.pem", authority_pem));
  return WriteFileAtomically(folder / "cert.pem", certificate_pem);
}

}  // namespace tributary::inline keys
