#pragma once

#include <chrono>
#include <ctime>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/keys/issued.h"
#include "tributary/keys/passphrase.h"

namespace tributary::inline keys {

// The authority of one fleet: a folder that makes, remembers and revokes the certificates by which coordinator,
// operator and devices know each other.
//
//   ca.pem           the authority's certificate, which everybody trusts
//   ca.key           its key: its holder can impersonate any member. Needed here only, never by a running fleet. It may be
//                    encrypted with a passphrase, which every change then asks for
//   revoked.pem      a signed X.509 revocation list; the coordinator reads it (revocation_list.h)
//   issued.txt       every certificate ever made (issued.h)
//   coordinator/  operator/  devices/NAME/    bundles: ca.pem, cert.pem, key.pem (credentials.h); without the key, if the
//                    party has made it itself and sent a request
//
// Keys are files of mode 0600 and folders have mode 0700 from the moment they exist. Every file is replaced
// atomically, in such an order that a process killed at any moment leaves no certificate that is not in issued.txt,
// and no new certificate of a renewal before the old one is revoked; renewing mends a bundle that is missing. Calls
// from several processes take turns.

// A revocation list is valid for so long, when no other time is given.
inline constexpr std::chrono::days kListValidity{90};

struct AuthorityOptions {
  std::time_t now = 0;                         // must be given
  std::chrono::days authority_validity{3650};  // when it ends, so does every certificate: a new fleet of keys
  std::chrono::days validity{825};             // of the coordinator's and the operator's certificates
  std::chrono::days list_validity = kListValidity;
  Passphrase passphrase;  // to encrypt ca.key with; without it the key is not encrypted
};

struct IssueOptions {
  std::time_t now = 0;              // must be given
  std::chrono::days validity{825};  // cut where the authority's ends
  bool renew = false;  // a party with a valid certificate gets a new one, and the old one is revoked
  std::chrono::days list_validity = kListValidity;
  Passphrase passphrase;
};

// Makes the folder with the bundles of coordinator and operator, whole or not at all. Refused if `dir` exists.
Status InitAuthority(const std::filesystem::path& dir, const AuthorityOptions& options);

// Makes a device's certificate and its bundle, and returns the bundle's folder. A name with a valid certificate is
// refused unless `renew` is set; after revocation or expiry a name is free again. The reserved names can be renewed,
// never made.
StatusOr<std::filesystem::path> IssueDevice(const std::filesystem::path& dir, std::string_view name,
                                            const IssueOptions& options);

// On the party's own machine: a new folder with its key, which never leaves it (key.pem), and the request for a certificate
// (request.csr). Returns the key's fingerprint. Refused if `folder` exists.
StatusOr<std::string> RequestCertificate(const std::filesystem::path& folder, std::string_view name);

// Signs such a request, after the same checks as IssueDevice and those of ReadRequest. The party's folder has its certificate
// and ca.pem, which belong beside the key.
struct SignedRequest {
  std::string name;
  std::filesystem::path bundle;
  std::string fingerprint;  // of the key
};
StatusOr<SignedRequest> SignRequest(const std::filesystem::path& dir, const std::filesystem::path& request,
                                    const IssueOptions& options);

// Revokes every certificate made out to that name. An error if there is none left to revoke.
Status Revoke(const std::filesystem::path& dir, std::string_view name, std::time_t now,
              std::chrono::days list_validity = kListValidity, const Passphrase& passphrase = {});

// Signs the revocation list anew, with the same certificates in it, because coordinators refuse a list that has expired.
// Returns when the new one does.
StatusOr<std::time_t> RenewList(const std::filesystem::path& dir, std::time_t now,
                                std::chrono::days list_validity = kListValidity,
                                const Passphrase& passphrase = {});

// Oldest first.
StatusOr<std::vector<IssuedCertificate>> ListIssued(const std::filesystem::path& dir);

}  // namespace tributary::inline keys
