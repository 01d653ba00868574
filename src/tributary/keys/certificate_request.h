#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "tributary/keys/x509.h"

namespace tributary::inline keys {

// Certificate requests (PKCS #10), for keys that never leave their machine. A request holds the public key and
// the name; its signature proves possession of the key. Only for the sources of keys/.

using RequestPtr = std::unique_ptr<X509_REQ, FreedBy<X509_REQ_free>>;

// The name is checked when the request is read. From PEM: kCorrupt for anything that is no request.
StatusOr<RequestPtr> MakeRequest(std::string_view name, EVP_PKEY& key);
StatusOr<RequestPtr> ParseRequest(std::string_view pem);
StatusOr<std::string> ToPem(const X509_REQ& request);

// The part that an authority may sign. Other parts (extensions, further parts of the subject) are ignored.
struct RequestedParty {
  std::string name;
  KeyPtr public_key;
};

// Fails if the signature is not by the request's own key, if the key is not ECDSA P-256, or if the subject
// does not have exactly one common name that is a party's.
StatusOr<RequestedParty> ReadRequest(X509_REQ& request);

// SHA-256 of the public key in hexadecimal, for people to compare the keys of both ends.
StatusOr<std::string> KeyFingerprint(const EVP_PKEY& key);

}  // namespace tributary::inline keys
