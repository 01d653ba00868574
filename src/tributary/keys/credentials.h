#pragma once

#include <ctime>
#include <filesystem>
#include <string>
#include <string_view>

#include "tributary/base/status.h"

namespace tributary::inline keys {

// What one party presents and trusts, as PEM text: the ends of a connection with mutual TLS are made of it.
// `key_pem` is a secret, not to be logged or sent.
struct Credentials {
  std::string name;
  std::string authority_pem;    // whom to trust: the one authority of the fleet
  std::string certificate_pem;  // who this is, signed by that authority
  std::string key_pem;
};

// Reads a bundle: a folder with ca.pem, cert.pem and key.pem, as made by authority.h. All that would fail later in a
// connection, without words, is refused here: a key that others can read, a key of another certificate, a
// certificate of another authority, one that has expired or is not valid yet at `now`, a certificate that names no
// party. The name comes from the certificate, not from the folder. TLS will go by the system's clock, and so does
// this unless told.
StatusOr<Credentials> LoadCredentials(const std::filesystem::path& bundle,
                                      std::time_t now = std::time(nullptr));

// Whose certificate this is. It must have one alternative name, of the form of CertificateHost; who signed it is not
// looked at. For a peer's certificate once TLS has accepted it.
StatusOr<std::string> NameInCertificate(std::string_view certificate_pem);
// InvalidArgument once the certificate has expired, with its party, the date and the command that makes a new one. TLS
// checks this only when a connection begins.
Status CheckNotExpired(std::string_view certificate_pem, std::time_t now);
// Which of an authority's certificates it is: its serial number, in hexadecimal digits, no two of which are alike.
StatusOr<std::string> SerialInCertificate(std::string_view certificate_pem);

}  // namespace tributary::inline keys
