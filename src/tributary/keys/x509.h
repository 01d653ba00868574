#pragma once

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <chrono>
#include <ctime>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/keys/passphrase.h"
#include "tributary/keys/role.h"

// Owning pointers to OpenSSL's objects, their readers, and the signatures of an authority. Only for the
// sources of keys/: public headers use PEM text. Every function leaves OpenSSL's error queue empty, so that
// other code in the process does not find these errors.

namespace tributary::inline keys {

template <auto kFree>
struct FreedBy {
  template <typename T>
  void operator()(T* object) const {
    kFree(object);
  }
};
using BioPtr = std::unique_ptr<BIO, FreedBy<BIO_free_all>>;
using CertificatePtr = std::unique_ptr<X509, FreedBy<X509_free>>;
using CrlPtr = std::unique_ptr<X509_CRL, FreedBy<X509_CRL_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, FreedBy<EVP_PKEY_free>>;

// OpenSSL's reason for the last failure as "`doing`: reason". Empties its error queue.
Status OpenSslError(std::string_view doing);

// From PEM. There must be exactly one certificate; surrounding text is ignored. kCorrupt for anything else.
StatusOr<CertificatePtr> ParseCertificate(std::string_view pem);
// The certificates of trusted authorities: one, or two while an authority is replaced.
StatusOr<std::vector<CertificatePtr>> ParseCertificates(std::string_view pem);
// Decrypts an encrypted key with the passphrase from `ask`; fails without `ask`.
bool IsEncrypted(std::string_view key_pem);
StatusOr<KeyPtr> ParseKey(std::string_view pem, const Passphrase& ask = {});
// The lists of as many authorities.
StatusOr<std::vector<CrlPtr>> ParseCrls(std::string_view pem);

StatusOr<std::string> ToPem(const X509& certificate);
StatusOr<std::string> ToPem(const EVP_PKEY& key);
// The same, encrypted: PKCS #8 with AES-256 and a key derived from the passphrase by scrypt.
StatusOr<std::string> ToEncryptedPem(const EVP_PKEY& key, std::string_view passphrase);
StatusOr<std::string> ToPem(const X509_CRL& crl);

// The party a certificate was issued to: its only alternative name must be a host of the form NAME.tributary. Fails
// for an unknown role, and for several.
StatusOr<Party> PartyOf(const X509& certificate);
std::string SerialText(const ASN1_INTEGER& serial);
StatusOr<std::time_t> ToTime(const ASN1_TIME& time);

// The serial numbers in a revocation list, with times. An authority's lists have increasing numbers. The list
// expires at `next_update`.
struct Revocations {
  std::uint64_t number = 0;
  std::time_t next_update = 0;  // set by ReadRevocations
  std::map<std::string, std::time_t, std::less<>> serials;
};
StatusOr<Revocations> ReadRevocations(X509_CRL& crl);

// The common name of an authority, for messages: "Tributary authority 1F3A22B0".
std::string AuthorityName(const X509& certificate);

// Checks the signature only, not the time.
bool SignedBy(X509& certificate, X509& authority);
bool SignedBy(X509_CRL& crl, X509& authority);

// Signatures of an authority; the content of certificates is defined here. Keys are ECDSA over P-256, serial
// numbers 128 random bits. Validity starts minutes before `now`, because clocks differ.

struct KeyPair {
  CertificatePtr certificate;
  KeyPtr key;
};

StatusOr<KeyPtr> MakeKey();

// An authority that may sign parties, but no further authorities.
StatusOr<KeyPair> MakeAuthority(std::time_t now, std::chrono::days validity);

// A party's certificate for `key`; devices and coordinators may use it as servers too. It expires with the
// authority's at the latest; fails if the authority has expired at `now`.
StatusOr<CertificatePtr> SignParty(const KeyPair& authority, const Party& party, EVP_PKEY& key,
                                   std::time_t now, std::chrono::days validity);
// The same with a new key.
StatusOr<KeyPair> MakeParty(const KeyPair& authority, const Party& party, std::time_t now,
                            std::chrono::days validity);

// The list expires after `validity`, and with the authority at the latest.
StatusOr<CrlPtr> SignRevocations(const KeyPair& authority, const Revocations& revocations, std::time_t now,
                                 std::chrono::days validity);

}  // namespace tributary::inline keys
