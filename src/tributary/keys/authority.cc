#include "tributary/keys/authority.h"

#include <fmt/ranges.h>

#include <set>

#include "tributary/base/file.h"
#include "tributary/keys/authority_folder.h"
#include "tributary/keys/certificate_request.h"
#include "tributary/keys/party_name.h"
#include "tributary/keys/private_files.h"
#include "tributary/keys/x509.h"

namespace tributary::inline keys {
namespace {

namespace fs = std::filesystem;

// The content of ca.key, encrypted if there is a passphrase.
StatusOr<std::string> KeyText(const EVP_PKEY& key, const Passphrase& ask) {
  if (!ask) return ToPem(key);
  TRIBUTARY_ASSIGN_OR_RETURN(const std::string passphrase, ask());
  if (passphrase.size() < kShortestPassphrase) {
    return InvalidArgument(fmt::format("the passphrase has {} characters; allowed: {} and more",
                                       passphrase.size(), kShortestPassphrase));
  }
  return ToEncryptedPem(key, passphrase);
}

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
  Issuer issuer{.revocations = {.number = 1}};
  TRIBUTARY_ASSIGN_OR_RETURN(issuer.keys, MakeAuthority(options.now, options.authority_validity));
  const KeyPair& authority = issuer.keys;
  TRIBUTARY_ASSIGN_OR_RETURN(const std::string authority_pem, ToPem(*authority.certificate));
  TRIBUTARY_ASSIGN_OR_RETURN(const std::string key_pem, KeyText(*authority.key, options.passphrase));

  TRIBUTARY_ASSIGN_OR_RETURN(StagedFolder staged, StagedFolder::Create(dir));
  TRIBUTARY_RETURN_IF_ERROR(WritePrivateFileAtomically(staged.path() / "ca.key", key_pem));
  TRIBUTARY_RETURN_IF_ERROR(WriteFileAtomically(staged.path() / "ca.pem", authority_pem));
  TRIBUTARY_RETURN_IF_ERROR(
      WriteRevoked(staged.path(), std::span(&issuer, 1), options.now, options.list_validity));
  TRIBUTARY_RETURN_IF_ERROR(MakePrivateFolder(staged.path() / "devices"));
  std::vector<IssuedCertificate> issued;
  for (const std::string_view name : {kCoordinatorName, kOperatorName}) {
    const Party who{std::string(name), RoleOfName(name)};
    TRIBUTARY_ASSIGN_OR_RETURN(const KeyPair party, MakeParty(authority, who, options.now, options.validity));
    TRIBUTARY_ASSIGN_OR_RETURN(issued.emplace_back(), Describe(*party.certificate, who));
    TRIBUTARY_RETURN_IF_ERROR(MakePrivateFolder(staged.path() / name));
    TRIBUTARY_RETURN_IF_ERROR(WriteBundle(staged.path() / name, authority_pem, party));
  }
  TRIBUTARY_RETURN_IF_ERROR(WriteFileAtomically(staged.path() / "issued.txt", FormatIssued(issued)));
  return std::move(staged).Publish();
}

namespace {

// Issues a certificate for `key`, or for a new key if it is null.
StatusOr<fs::path> Issue(const fs::path& dir, std::string_view name, EVP_PKEY* key,
                         const IssueOptions& options) {
  TRIBUTARY_CHECK(options.now > 0);
  const Party who{std::string(name), options.role.value_or(options.renew ? RoleOfName(name) : Role::kDevice)};
  TRIBUTARY_RETURN_IF_ERROR(CheckPartyName(name, who.role));
  TRIBUTARY_ASSIGN_OR_RETURN(AuthorityFolder folder,
                             AuthorityFolder::Open(WithoutLastSlash(dir), options.passphrase));
  if (options.renew) TRIBUTARY_RETURN_IF_ERROR(folder.CheckKnown(name));
  for (const IssuedCertificate& one : folder.issued()) {
    if (one.name != name || !one.ValidAt(options.now)) continue;
    if (one.role != who.role) {
      return InvalidArgument(fmt::format(
          "'{}' has a certificate as {} {}; revoke it first", one.name,
          one.role == Role::kObserver || one.role == Role::kOperator ? "an" : "a", NameOf(one.role)));
    }
    if (options.renew) continue;
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
    TRIBUTARY_ASSIGN_OR_RETURN(party, MakeParty(authority, who, options.now, options.validity));
  } else {
    TRIBUTARY_ASSIGN_OR_RETURN(party.certificate,
                               SignParty(authority, who, *key, options.now, options.validity));
  }
  TRIBUTARY_ASSIGN_OR_RETURN(const IssuedCertificate made, Describe(*party.certificate, who));
  TRIBUTARY_RETURN_IF_ERROR(folder.Record(made));
  // Certificates of the previous authority end with it, so that a party can go on until its new one has arrived.
  const auto replaced = [&](const IssuedCertificate& one) {
    return one.serial != made.serial && !one.previous;
  };
  if (options.renew)
    TRIBUTARY_RETURN_IF_ERROR(folder.Revoke(name, replaced, options.now, options.list_validity).status());
  const fs::path bundle = folder.Bundle(who);
  TRIBUTARY_ASSIGN_OR_RETURN(const std::string trusted, folder.TrustedPem());
  TRIBUTARY_RETURN_IF_ERROR(MakePrivateFolders(FolderOfFile(bundle)));
  TRIBUTARY_ASSIGN_OR_RETURN(StagedFolder staged, StagedFolder::Create(bundle));
  TRIBUTARY_RETURN_IF_ERROR(WriteBundle(staged.path(), trusted, party));
  TRIBUTARY_RETURN_IF_ERROR(std::move(staged).Replace());
  return bundle;
}

}  // namespace

StatusOr<fs::path> IssueDevice(const fs::path& dir, std::string_view name, const IssueOptions& options) {
  return Issue(dir, name, /*key=*/nullptr, options);
}

StatusOr<std::string> RequestCertificate(const fs::path& folder_given, std::string_view name) {
  const fs::path folder = WithoutLastSlash(folder_given);
  TRIBUTARY_RETURN_IF_ERROR(CheckPartyName(name, RoleOfName(name)));
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
  TRIBUTARY_ASSIGN_OR_RETURN(const std::string pem, ReadText(path));
  TRIBUTARY_ASSIGN_OR_RETURN(const RequestPtr request, ParseRequest(pem).WithContext(path.string()));
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
  TRIBUTARY_ASSIGN_OR_RETURN(const int revoked,
                             folder.Revoke(
                                 name, [](const IssuedCertificate&) { return true; }, now, list_validity));
  if (revoked > 0) return OkStatus();
  return InvalidArgument(fmt::format("every certificate of '{}' is revoked already", name));
}

StatusOr<std::time_t> RenewList(const fs::path& dir, std::time_t now, std::chrono::days list_validity,
                                const Passphrase& passphrase) {
  TRIBUTARY_CHECK(now > 0);
  TRIBUTARY_ASSIGN_OR_RETURN(AuthorityFolder folder,
                             AuthorityFolder::Open(WithoutLastSlash(dir), passphrase));
  return folder.RenewList(now, list_validity);
}

Status RotateAuthority(const fs::path& dir_given, const AuthorityOptions& options) {
  TRIBUTARY_CHECK(options.now > 0);
  const fs::path dir = WithoutLastSlash(dir_given);
  const Passphrase passphrase = Remembered(options.passphrase);
  TRIBUTARY_ASSIGN_OR_RETURN(AuthorityFolder folder, AuthorityFolder::Open(dir, passphrase));
  if (folder.rotating()) {
    return InvalidArgument(dir.string() +
                           " has a previous authority already; end it first, with 'tributary keys retire'");
  }
  TRIBUTARY_ASSIGN_OR_RETURN(const std::string old_key, ReadSecret(dir / "ca.key"));
  TRIBUTARY_ASSIGN_OR_RETURN(KeyPair next, MakeAuthority(options.now, options.authority_validity));
  TRIBUTARY_ASSIGN_OR_RETURN(const std::string key_pem,
                             KeyText(*next.key, IsEncrypted(old_key) ? passphrase : Passphrase()));
  return folder.Rotate(std::move(next), key_pem, options.now, options.list_validity);
}

Status RetireAuthority(const fs::path& dir_given, std::time_t now, std::chrono::days list_validity,
                       const Passphrase& passphrase) {
  TRIBUTARY_CHECK(now > 0);
  const fs::path dir = WithoutLastSlash(dir_given);
  TRIBUTARY_ASSIGN_OR_RETURN(AuthorityFolder folder, AuthorityFolder::Open(dir, Remembered(passphrase)));
  if (!folder.rotating()) {
    return InvalidArgument(
        dir.string() + " has no previous authority; 'tributary keys rotate' begins a change of authorities");
  }
  std::set<std::string> left;
  for (const IssuedCertificate& one : folder.issued())
    if (one.previous && one.ValidAt(now)) left.insert(one.name);
  for (const IssuedCertificate& one : folder.issued())
    if (!one.previous && one.ValidAt(now)) left.erase(one.name);
  if (!left.empty()) {
    return InvalidArgument(
        fmt::format("these have certificates of the previous authority only: {}; give each a new one with "
                    "--renew and copy it there, or revoke the party",
                    fmt::join(left, ", ")));
  }
  return folder.Retire(now, list_validity);
}

StatusOr<std::vector<IssuedCertificate>> ListIssued(const fs::path& dir) {
  return ReadIssued(WithoutLastSlash(dir));
}

}  // namespace tributary::inline keys
