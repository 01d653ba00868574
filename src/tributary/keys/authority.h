#pragma once

#include <chrono>
#include <ctime>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/keys/issued.h"
#include "tributary/keys/passphrase.h"

namespace tributary::inline keys {

// The certificate authority of one fleet: a folder that issues, records and revokes the certificates by which
// the coordinator, the operator and the devices identify each other.
//
//   ca.pem           the authority's certificate, which all parties trust
//   ca.key           its key, which can impersonate any party. Needed only here, never by a running fleet. It
//                    can be encrypted with a passphrase, which every change then requires
//   revoked.pem      a signed X.509 revocation list; the coordinator reads it (revocation_list.h)
//   issued.txt       all certificates ever issued (issued.h)
//   coordinator/  operator/  devices/NAME/  observers/NAME/  operators/NAME/  coordinators/NAME/
//                    bundles: ca.pem, cert.pem, key.pem (credentials.h); no key.pem if the party made its own
//                    key and sent a request
//   old/             the previous authority, from RotateAuthority to RetireAuthority
//
// Keys have mode 0600 and folders mode 0700 from the moment they exist. Files are replaced atomically and in
// an order that is safe against a kill at any moment: no certificate is missing from issued.txt, and a
// renewed certificate does not appear before the old one is revoked. Renewal restores a missing bundle. Calls
// from several processes take turns.

// Default validity of a revocation list.
inline constexpr std::chrono::days kListValidity{90};

struct AuthorityOptions {
  std::time_t now = 0;                         // required
  std::chrono::days authority_validity{3650};  // every certificate expires with the authority at the latest
  std::chrono::days validity{825};             // of the coordinator's and the operator's certificates
  std::chrono::days list_validity = kListValidity;
  Passphrase passphrase;  // to encrypt ca.key with; without it the key is not encrypted
};

struct IssueOptions {
  std::time_t now = 0;              // required
  std::chrono::days validity{825};  // limited by the authority's own
  // By default a device; when renewing a reserved name, its role.
  std::optional<Role> role;
  bool renew =
      false;  // replace a valid certificate; the old one is revoked, unless the previous authority made it
  std::chrono::days list_validity = kListValidity;
  Passphrase passphrase;
};

// Creates the folder with the bundles of coordinator and operator, all or nothing. Fails if `dir` exists.
Status InitAuthority(const std::filesystem::path& dir, const AuthorityOptions& options);

// Issues a party's certificate and returns the folder of its bundle. Fails if `name` has a valid certificate,
// unless `renew` is set, and always if it has one in another role.
StatusOr<std::filesystem::path> IssueDevice(const std::filesystem::path& dir, std::string_view name,
                                            const IssueOptions& options);

// On the party's own machine: creates a folder with a key (key.pem) and the request for its certificate
// (request.csr). Returns the key's fingerprint. Fails if `folder` exists.
StatusOr<std::string> RequestCertificate(const std::filesystem::path& folder, std::string_view name);

// Signs such a request, after the checks of IssueDevice and ReadRequest. The bundle holds the certificate and
// ca.pem, to be copied to the key.
struct SignedRequest {
  std::string name;
  std::filesystem::path bundle;
  std::string fingerprint;  // of the key
};
StatusOr<SignedRequest> SignRequest(const std::filesystem::path& dir, const std::filesystem::path& request,
                                    const IssueOptions& options);

// Revokes all certificates of `name`. Fails if none is left to revoke.
Status Revoke(const std::filesystem::path& dir, std::string_view name, std::time_t now,
              std::chrono::days list_validity = kListValidity, const Passphrase& passphrase = {});

// Signs the revocation list again with the same certificates, because coordinators refuse an expired list.
// Returns when the new one expires.
StatusOr<std::time_t> RenewList(const std::filesystem::path& dir, std::time_t now,
                                std::chrono::days list_validity = kListValidity,
                                const Passphrase& passphrase = {});

// Replaces the authority while the fleet runs. RotateAuthority creates a new one, which issues all certificates from
// then on; ca.pem in the folder and in all bundles then has both, and revoked.pem a list of each. When all parties
// have ca.pem, their certificates are renewed, at any time and in any order. RetireAuthority ends the trust in the old
// one; it fails while a party has no certificate of the new one. Of the options, `validity` is not used; the new key is
// encrypted if the old one is, with the same passphrase.
Status RotateAuthority(const std::filesystem::path& dir, const AuthorityOptions& options);
Status RetireAuthority(const std::filesystem::path& dir, std::time_t now,
                       std::chrono::days list_validity = kListValidity, const Passphrase& passphrase = {});

// Oldest first.
StatusOr<std::vector<IssuedCertificate>> ListIssued(const std::filesystem::path& dir);

}  // namespace tributary::inline keys
