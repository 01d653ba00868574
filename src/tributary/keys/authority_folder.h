#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/keys/issued.h"
#include "tributary/keys/passphrase.h"
#include "tributary/keys/private_files.h"
#include "tributary/keys/x509.h"

namespace tributary::inline keys {

// The files of an authority's folder (authority.h), for the sources of keys/ alone.
//
// While the authority is replaced, the folder old/ has the files of the previous one: ca.key, ca.pem and issued.txt
// as they were. ca.pem and revoked.pem then have a certificate and a list of each, the new authority's first. The
// rotation is under way from the moment when ca.key differs from old/ca.key until old/ca.key is removed. What an
// interrupted change has left undone is completed when the folder is opened the next time.

// NotFound if the folder is not an authority's.
Status CheckIsAuthority(const std::filesystem::path& dir);

// All certificates ever issued, oldest first; revoked ones and those of the previous authority are marked.
StatusOr<std::vector<IssuedCertificate>> ReadIssued(const std::filesystem::path& dir);

// Writes the files of a bundle into an existing folder; without a key if the party made it itself.
Status WriteBundle(const std::filesystem::path& folder, const std::string& authority_pem,
                   const KeyPair& party);

StatusOr<IssuedCertificate> Describe(const X509& certificate, const Party& party);

// An authority, and the certificates that it has revoked.
struct Issuer {
  KeyPair keys;
  Revocations revocations;
};

// Writes revoked.pem with one list for each authority.
Status WriteRevoked(const std::filesystem::path& dir, std::span<const Issuer> issuers, std::time_t now,
                    std::chrono::days validity);

// The folder opened for a change: locked and read completely. Each change is on disk when its call returns.
class AuthorityFolder {
 public:
  static StatusOr<AuthorityFolder> Open(const std::filesystem::path& dir, const Passphrase& passphrase);

  const KeyPair& keys() const { return issuers_.front().keys; }
  const std::vector<IssuedCertificate>& issued() const { return issued_; }
  bool rotating() const { return issuers_.size() > 1; }
  // The certificates of all trusted authorities.
  StatusOr<std::string> TrustedPem() const;
  std::filesystem::path Bundle(const Party& party) const;

  Status Record(const IssuedCertificate& certificate);
  // Revokes the unrevoked certificates of `name` that `which` accepts. Returns their number.
  StatusOr<int> Revoke(std::string_view name, const std::function<bool(const IssuedCertificate&)>& which,
                       std::time_t now, std::chrono::days list_validity);
  // Returns when the first of the new lists expires.
  StatusOr<std::time_t> RenewList(std::time_t now, std::chrono::days list_validity);
  // kInvalidArgument, with the nearest name, if no certificate was ever issued to `name`.
  Status CheckKnown(std::string_view name) const;

  // Begins a rotation: `next` issues certificates from now on, with this content of ca.key.
  Status Rotate(KeyPair next, const std::string& key_pem, std::time_t now, std::chrono::days list_validity);
  // Ends it: only the new authority is trusted from now on.
  Status Retire(std::time_t now, std::chrono::days list_validity);

 private:
  AuthorityFolder(std::filesystem::path dir, FolderLock lock)
      : dir_(std::move(dir)), lock_(std::move(lock)) {}

  // Writes the trusted certificates to all bundles, and to ca.pem.
  Status WriteTrusted() const;
  // Completes an interrupted rotation or retirement.
  Status Mend();

  std::filesystem::path dir_;
  FolderLock lock_;
  std::vector<Issuer> issuers_;  // the current one, and the previous one while that is trusted
  std::vector<IssuedCertificate> issued_;
};

}  // namespace tributary::inline keys
