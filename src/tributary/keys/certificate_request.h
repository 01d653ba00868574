#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "tributary/keys/x509.h"

namespace tributary::inline keys {

// A certificate request (PKCS #10) is how a key that never leaves its machine gets a certificate: it carries the public key
// and the name, and its signature proves that whoever made it has the key. For the sources of keys/ alone.

using RequestPtr = std::unique_ptr<X509_REQ, FreedBy<X509_REQ_free>>;

// For the party of that name, which is checked when it is read. From PEM: kCorrupt for anything that is no request.
StatusOr<RequestPtr> MakeRequest(std::string_view name, EVP_PKEY& key);
StatusOr<RequestPtr> ParseRequest(std::string_view pem);
StatusOr<std::string> ToPem(const X509_REQ& request);

// What an authority may sign. Anything else that a request asks for (extensions, other parts of the name) is not granted.
struct RequestedParty {
  std::string name;
  KeyPtr public_key;
};

// Refused: a signature that is not by the request's own key, a key that is not ECDSA P-256, and a subject without exactly one
// common name, which must be a party's.
StatusOr<RequestedParty> ReadRequest(X509_REQ& request);

// SHA-256 of the public key, in hexadecimal: by which people compare the keys at both ends.
StatusOr<std::string> KeyFingerprint(const EVP_PKEY& key);

}  // namespace tributary::inline keys
