#pragma once

#include <chrono>
#include <ctime>
#include <string_view>

#include "tributary/keys/x509.h"

namespace tributary::inline keys {

// The signatures of an authority: what is in a certificate is decided here. Keys are ECDSA over P-256; serial numbers
// are 128 random bits. Everything becomes valid some minutes before `now`, because clocks differ between machines.

struct KeyPair {
  CertificatePtr certificate;
  KeyPtr key;
};

// An authority that signs parties, and no further authorities.
StatusOr<KeyPair> MakeAuthority(std::time_t now, std::chrono::days validity);

// A party's certificate, good for both ends of a connection. It ends with the authority's at the latest; an authority
// that has expired at `now` is refused.
StatusOr<KeyPair> MakeParty(const KeyPair& authority, std::string_view name, std::time_t now,
                            std::chrono::days validity);

// It says that the next list comes when the authority ends: a list stays in force until there is a newer one.
StatusOr<CrlPtr> SignRevocations(const KeyPair& authority, const Revocations& revocations, std::time_t now);

}  // namespace tributary::inline keys
