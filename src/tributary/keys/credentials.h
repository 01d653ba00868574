#pragma once

#include <ctime>
#include <filesystem>
#include <string>
#include <string_view>

#include "tributary/base/status.h"
#include "tributary/keys/role.h"

namespace tributary::inline keys {

// One party's identity and trust for mutual TLS, as PEM text. `key_pem` is a secret: never log or send it.
struct Credentials {
  std::string name;
  Role role = Role::kDevice;
  std::string authority_pem;    // the trusted authority of the fleet, or two while it is replaced
  std::string certificate_pem;  // signed by one of them
  std::string key_pem;
  std::filesystem::path folder;  // where they were read
};

// Reads a bundle: a folder with ca.pem, cert.pem and key.pem, as made by authority.h. Refuses everything that
// would later make a connection fail without an explanation: a key that others can read, a key or authority
// that does not match the certificate, a certificate that has expired or is not yet valid at `now`, or that
// names no party. The name comes from the certificate, not from the folder. The default of `now` is the
// system clock, which TLS uses too.
StatusOr<Credentials> LoadCredentials(const std::filesystem::path& bundle,
                                      std::time_t now = std::time(nullptr));

// The party that a peer's certificate, already accepted by TLS, was issued to. The certificate must have one
// alternative name, of the form of CertificateHost; its signature is not checked here.
StatusOr<Party> PartyInCertificate(std::string_view certificate_pem);
// Fails if the certificate has expired; the message has the party, the date and the command for renewal. TLS
// checks this only when a connection is opened.
Status CheckNotExpired(std::string_view certificate_pem, std::time_t now);
// The certificate's serial number in hexadecimal, unique within its authority.
StatusOr<std::string> SerialInCertificate(std::string_view certificate_pem);

}  // namespace tributary::inline keys
