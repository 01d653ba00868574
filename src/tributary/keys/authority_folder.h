#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "tributary/keys/issued.h"
#include "tributary/keys/private_files.h"
#include "tributary/keys/signing.h"

namespace tributary::inline keys {

// The folder that authority.h describes, opened for a change: it is locked, has been read whole, and every change is
// on disk when the call returns.
class AuthorityFolder {
 public:
  static StatusOr<AuthorityFolder> Open(const std::filesystem::path& dir);

  const KeyPair& keys() const { return keys_; }
  const std::vector<IssuedCertificate>& issued() const { return issued_; }
  std::filesystem::path Bundle(std::string_view name) const;

  // Adds a line to issued.txt.
  Status Record(const IssuedCertificate& certificate);

  // Revokes the certificates of `name` that are not revoked yet, but for the one with the serial number `except`.
  // Returns how many these were.
  StatusOr<int> Revoke(std::string_view name, std::string_view except, std::time_t now);

  // kInvalidArgument, with the nearest name, if no certificate was ever made out to `name`.
  Status CheckKnown(std::string_view name) const;

 private:
  AuthorityFolder(std::filesystem::path dir, FolderLock lock)
      : dir_(std::move(dir)), lock_(std::move(lock)) {}

  std::filesystem::path dir_;
  FolderLock lock_;
  KeyPair keys_;
  Revocations revocations_;
  std::vector<IssuedCertificate> issued_;
};

// "keys/" and "keys" are one folder, but the first has no file name.
std::filesystem::path WithoutTrailingSlash(const std::filesystem::path& dir);

Status CheckIsAuthority(const std::filesystem::path& dir);

// Everything that was issued, without the lock and without the key.
StatusOr<std::vector<IssuedCertificate>> ReadIssued(const std::filesystem::path& dir);

Status WriteRevoked(const std::filesystem::path& dir, const KeyPair& authority,
                    const Revocations& revocations, std::time_t now);

// The three files of a bundle, into a folder that is there.
Status WriteBundle(const std::filesystem::path& folder, const X509& authority, const KeyPair& party);

}  // namespace tributary::inline keys
