#include "tributary/keys/authority.h"

#include <fmt/format.h>
#include <openssl/err.h>

#include <algorithm>

#include "tributary/base/file.h"
#include "tributary/base/names.h"
#include "tributary/keys/certificate_request.h"
#include "tributary/keys/party_name.h"
#include "tributary/keys/private_files.h"
#include "tributary/keys/x509.h"

namespace tributary::inline keys {
namespace {

namespace fs = std::filesystem;

Status CheckIsAuthority(const fs::path& dir) {
  std::error_code ignored;
  if (fs::exists(dir / "ca.pem", ignored)) return OkStatus();
  return NotFound(dir.string() +
                  " is not the folder of an authority (it has no ca.pem); 'tributary keys init' "
                  "creates one");
}

template <typename T>
StatusOr<T> Parse(const fs::path& path, StatusOr<std::string> text, StatusOr<T> (*parse)(std::string_view)) {
  if (!text.ok()) return std::move(text).status();
  return parse(*text).WithContext(path.string());
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

StatusOr<std::vector<IssuedCertificate>> ReadIssued(const fs::path& dir, const Revocations& revocations) {
  const fs::path path = dir / "issued.txt";
  TRIBUTARY_ASSIGN_OR_RETURN(auto issued, Parse(path, ReadText(path), ParseIssued));
  for (IssuedCertificate& one : issued) one.revoked = revocations.serials.contains(one.serial);
  return issued;
}

Status WriteRevoked(const fs::path& dir, const KeyPair& authority, const Revocations& revocations,
                    std::time_t now, std::chrono::days validity) {
  TRIBUTARY_ASSIGN_OR_RETURN(const CrlPtr crl, SignRevocations(authority, revocations, now, validity));
  TRIBUTARY_ASSIGN_OR_RETURN(const std::string pem, ToPem(*crl));
  return WriteFileAtomically(dir / "revoked.pem", pem);
}

// Writes the files of a bundle into an existing folder; without a key if the party made it itself.
Status WriteBundle(const fs::path& folder, const X509& authority, const KeyPair& party) {
  TRIBUTARY_ASSIGN_OR_RETURN(const std::string authority_pem, ToPem(authority));
  TRIBUTARY_ASSIGN_OR_RETURN(const std::string certificate_pem, ToPem(*party.certificate));
  if (party.key) {
    TRIBUTARY_ASSIGN_OR_RETURN(const std::string key_pem, ToPem(*party.key));
    TRIBUTARY_RETURN_IF_ERROR(WritePrivateFileAtomically(folder / "key.pem", key_pem));
  }
  TRIBUTARY_RETURN_IF_ERROR(WriteFileAtomically(folder / "ca.pem", authority_pem));
  return WriteFileAtomically(folder / "cert.pem", certificate_pem);
}

StatusOr<IssuedCertificate> Describe(const X509& certificate, std::string_view name) {
  TRIBUTARY_ASSIGN_OR_RETURN(const std::time_t not_after, ToTime(*X509_get0_notAfter(&certificate)));
  return IssuedCertificate{.name = std::string(name),
                           .serial = SerialText(*X509_get0_serialNumber(&certificate)),
                           .not_after = not_after};
}

// The folder opened for a change: locked and read completely. Each change is on disk when its call returns.
class AuthorityFolder {
 public:
  static StatusOr<AuthorityFolder> Open(const fs::path& dir, const Passphrase& passphrase) {
    TRIBUTARY_RETURN_IF_ERROR(CheckIsAuthority(dir));
    TRIBUTARY_ASSIGN_OR_RETURN(FolderLock lock, FolderLock::Take(dir));
    AuthorityFolder folder(dir, std::move(lock));
    TRIBUTARY_ASSIGN_OR_RETURN(folder.keys_.certificate, ReadAuthority(dir));
    TRIBUTARY_ASSIGN_OR_RETURN(const std::string key_pem, ReadSecret(dir / "ca.key"));
    TRIBUTARY_ASSIGN_OR_RETURN(folder.keys_.key,
                               ParseKey(key_pem, passphrase).WithContext((dir / "ca.key").string()));
    const bool fits = X509_check_private_key(folder.keys_.certificate.get(), folder.keys_.key.get()) == 1;
    ERR_clear_error();
    if (!fits) return InvalidArgument((dir / "ca.key").string() + " is not the key of the ca.pem beside it");
    TRIBUTARY_ASSIGN_OR_RETURN(folder.revocations_, ReadRevoked(dir, *folder.keys_.certificate));
    TRIBUTARY_ASSIGN_OR_RETURN(folder.issued_, ReadIssued(dir, folder.revocations_));
    return folder;
  }

  const KeyPair& keys() const { return keys_; }
  const std::vector<IssuedCertificate>& issued() const { return issued_; }
  fs::path Bundle(std::string_view name) const {
    return name == kCoordinatorName || name == kOperatorName ? dir_ / name : dir_ / "devices" / name;
  }

  Status Record(const IssuedCertificate& certificate) {
    issued_.push_back(certificate);
    return WriteFileAtomically(dir_ / "issued.txt", FormatIssued(issued_));
  }

  // Revokes the unrevoked certificates of `name` except that with serial `except`. Returns their number.
  StatusOr<int> Revoke(std::string_view name, std::string_view except, std::time_t now,
                       std::chrono::days list_validity) {
    int count = 0;
    for (IssuedCertificate& one : issued_) {
      if (one.name != name || one.revoked || one.serial == except) continue;
      revocations_.serials.emplace(one.serial, now);
      one.revoked = true;
      ++count;
    }
    if (count > 0) TRIBUTARY_RETURN_IF_ERROR(RenewList(now, list_validity));
    return count;
  }
  Status RenewList(std::time_t now, std::chrono::days list_validity) {
    ++revocations_.number;
    return WriteRevoked(dir_, keys_, revocations_, now, list_validity);
  }

  // kInvalidArgument, with the nearest name, if no certificate was ever issued to `name`.
  Status CheckKnown(std::string_view name) const {
    std::vector<std::string> names;
    for (const IssuedCertificate& one : issued_) {
      if (one.name == name) return OkStatus();
      if (std::ranges::find(names, one.name) == names.end()) names.push_back(one.name);
    }
    return UnknownName("party", name, names);
  }

 private:
  AuthorityFolder(fs::path dir, FolderLock lock) : dir_(std::move(dir)), lock_(std::move(lock)) {}

  fs::path dir_;
  FolderLock lock_;
  KeyPair keys_;
  Revocations revocations_;
  std::vector<IssuedCertificate> issued_;
};

}  // namespace

Status InitAuthority(const fs::path& dir_given, const AuthorityOptions& options) {
  TRIBUTARY_CHECK(options.now > 0);
  const fs::path dir = WithoutLastSlash(dir_given);
  TRIBUTARY_ASSIGN_OR_RETURN(const FolderLock lock, FolderLock::Take(FolderOfFile(dir)));
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(dir, ignored))) {
    return InvalidArgument(fmt::format("{} {} already; give the name of a new folder", dir.string(),
                                       CheckIsAuthority(dir).ok() ? "holds an authority" : "exists"));
  }
  TRIBUTARY_ASSIGN_OR_RETURN(const KeyPair authority, MakeAuthority(options.now, options.authority_validity));
  TRIBUTARY_ASSIGN_OR_RETURN(const std::string authority_pem, ToPem(*authority.certificate));
  StatusOr<std::string> key_pem = ToPem(*authority.key);
  if (options.passphrase) {
    TRIBUTARY_ASSIGN_OR_RETURN(const std::string passphrase, options.passphrase());
    if (passphrase.size() < kShortestPassphrase) {
      return InvalidArgument(fmt::format("the passphrase has {} characters; allowed: {} and more",
                                         passphrase.size(), kShortestPassphrase));
    }
    key_pem = ToEncryptedPem(*authority.key, passphrase);
  }
  TRIBUTARY_RETURN_IF_ERROR(key_pem.status());

  TRIBUTARY_ASSIGN_OR_RETURN(StagedFolder staged, StagedFolder::Create(dir));
  TRIBUTARY_RETURN_IF_ERROR(WritePrivateFileAtomically(staged.path() / "ca.key", *key_pem));
  TRIBUTARY_RETURN_IF_ERROR(WriteFileAtomically(staged.path() / "ca.pem", authority_pem));
  TRIBUTARY_RETURN_IF_ERROR(
      WriteRevoked(staged.path(), authority, {.number = 1}, options.now, options.list_validity));
  TRIBUTARY_RETURN_IF_ERROR(MakePrivateFolder(staged.path() / "devices"));
  std::vector<IssuedCertificate> issued;
  for (const std::string_view name : {kCoordinatorName, kOperatorName}) {
    TRIBUTARY_ASSIGN_OR_RETURN(const KeyPair party,
                               MakeParty(authority, name, options.now, options.validity));
    TRIBUTARY_ASSIGN_OR_RETURN(issued.emplace_back(), Describe(*party.certificate, name));
    TRIBUTARY_RETURN_IF_ERROR(MakePrivateFolder(staged.path() / name));
    TRIBUTARY_RETURN_IF_ERROR(WriteBundle(staged.path() / name, *authority.certificate, party));
  }
  TRIBUTARY_RETURN_IF_ERROR(WriteFileAtomically(staged.path() / "issued.txt", FormatIssued(issued)));
  return std::move(staged).Publish();
}

namespace {

// Issues a certificate for `key`, or for a new key if it is null.
StatusOr<fs::path> Issue(const fs::path& dir, std::string_view name, EVP_PKEY* key,
                         const IssueOptions& options) {
  TRIBUTARY_CHECK(options.now > 0);
  const bool reserved = name == kCoordinatorName || name == kOperatorName;
  if (!reserved || !options.renew) TRIBUTARY_RETURN_IF_ERROR(CheckDeviceName(name));
  TRIBUTARY_ASSIGN_OR_RETURN(AuthorityFolder folder,
                             AuthorityFolder::Open(WithoutLastSlash(dir), options.passphrase));
  if (options.renew) TRIBUTARY_RETURN_IF_ERROR(folder.CheckKnown(name));
  for (const IssuedCertificate& one : folder.issued()) {
    if (one.name != name || !one.ValidAt(options.now) || options.renew) continue;
    return InvalidArgument(fmt::format(
        "'{}' has a certificate that is valid until {}; with --renew it gets a new one, and the old one is "
        "revoked",
        one.name, FormatUtc(one.not_after)));
  }

  // This order makes a kill harmless: a certificate is recorded before it is on disk, and the certificate
  // that it replaces is revoked before.
  const KeyPair& authority = folder.keys();
  KeyPair party;
  if (key == nullptr) {
    TRIBUTARY_ASSIGN_OR_RETURN(party, MakeParty(authority, name, options.now, options.validity));
  } else {
    TRIBUTARY_ASSIGN_OR_RETURN(party.certificate,
                               SignParty(authority, name, *key, options.now, options.validity));
  }
  TRIBUTARY_ASSIGN_OR_RETURN(const IssuedCertificate made, Describe(*party.certificate, name));
  TRIBUTARY_RETURN_IF_ERROR(folder.Record(made));
  if (options.renew)
    TRIBUTARY_RETURN_IF_ERROR(folder.Revoke(name, made.serial, options.now, options.list_validity).status());
  const fs::path bundle = folder.Bundle(name);
  TRIBUTARY_ASSIGN_OR_RETURN(StagedFolder staged, StagedFolder::Create(bundle));
  TRIBUTARY_RETURN_IF_ERROR(WriteBundle(staged.path(), *authority.certificate, party));
  TRIBUTARY_RETURN_IF_ERROR(std::move(staged).Replace());
  return bundle;
}

}  // namespace

StatusOr<fs::path> IssueDevice(const fs::path& dir, std::string_view name, const IssueOptions& options) {
  return Issue(dir, name, /*key=*/nullptr, options);
}

StatusOr<std::string> RequestCertificate(const fs::path& folder_given, std::string_view name) {
  const fs::path folder = WithoutLastSlash(folder_given);
  if (name != kCoordinatorName && name != kOperatorName) TRIBUTARY_RETURN_IF_ERROR(CheckDeviceName(name));
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(folder, ignored)))
    return InvalidArgument(folder.string() + " exists; name a folder that is still to be made");
  TRIBUTARY_ASSIGN_OR_RETURN(const KeyPtr key, MakeKey());
  TRIBUTARY_ASSIGN_OR_RETURN(const RequestPtr request, MakeRequest(name, *key));
  TRIBUTARY_ASSIGN_OR_RETURN(const std::string key_pem, ToPem(*key));
  TRIBUTARY_ASSIGN_OR_RETURN(const std::string request_pem, ToPem(*request));
  TRIBUTARY_ASSIGN_OR_RETURN(StagedFolder staged, StagedFolder::Create(folder));
  TRIBUTARY_RETURN_IF_ERROR(WritePrivateFileAtomically(staged.path() / "key.pem", key_pem));
  TRIBUTARY_RETURN_IF_ERROR(WriteFileAtomically(staged.path() / "request.csr", request_pem));
  TRIBUTARY_RETURN_IF_ERROR(std::move(staged).Publish());
  return KeyFingerprint(*key);
}

StatusOr<SignedRequest> SignRequest(const fs::path& dir, const fs::path& path, const IssueOptions& options) {
  TRIBUTARY_ASSIGN_OR_RETURN(const RequestPtr request, Parse(path, ReadText(path), ParseRequest));
  TRIBUTARY_ASSIGN_OR_RETURN(const auto party, ReadRequest(*request).WithContext(path.string()));
  SignedRequest made{.name = party.name};
  TRIBUTARY_ASSIGN_OR_RETURN(made.fingerprint, KeyFingerprint(*party.public_key));
  TRIBUTARY_ASSIGN_OR_RETURN(made.bundle, Issue(dir, party.name, party.public_key.get(), options));
  return made;
}

Status Revoke(const fs::path& dir, std::string_view name, std::time_t now, std::chrono::days list_validity,
              const Passphrase& passphrase) {
  TRIBUTARY_CHECK(now > 0);
  TRIBUTARY_ASSIGN_OR_RETURN(AuthorityFolder folder,
                             AuthorityFolder::Open(WithoutLastSlash(dir), passphrase));
  TRIBUTARY_RETURN_IF_ERROR(folder.CheckKnown(name));
  TRIBUTARY_ASSIGN_OR_RETURN(const int revoked, folder.Revoke(name, /*except=*/"", now, list_validity));
  if (revoked > 0) return OkStatus();
  return InvalidArgument(fmt::format("every certificate of '{}' is revoked already", name));
}

StatusOr<std::time_t> RenewList(const fs::path& dir_given, std::time_t now, std::chrono::days list_validity,
                                const Passphrase& passphrase) {
  TRIBUTARY_CHECK(now > 0);
  const fs::path dir = WithoutLastSlash(dir_given);
  TRIBUTARY_ASSIGN_OR_RETURN(AuthorityFolder folder, AuthorityFolder::Open(dir, passphrase));
  TRIBUTARY_RETURN_IF_ERROR(folder.RenewList(now, list_validity));
  TRIBUTARY_ASSIGN_OR_RETURN(const Revocations renewed, ReadRevoked(dir, *folder.keys().certificate));
  return renewed.next_update;
}

StatusOr<std::vector<IssuedCertificate>> ListIssued(const fs::path& dir_given) {
  const fs::path dir = WithoutLastSlash(dir_given);
  TRIBUTARY_ASSIGN_OR_RETURN(const CertificatePtr authority, ReadAuthority(dir));
  TRIBUTARY_ASSIGN_OR_RETURN(const Revocations revocations, ReadRevoked(dir, *authority));
  return ReadIssued(dir, revocations);
}

}  // namespace tributary::inline keys
