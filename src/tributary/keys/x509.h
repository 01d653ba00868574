#pragma once

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <chrono>
#include <ctime>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "tributary/base/status.h"
#include "tributary/keys/passphrase.h"

// OpenSSL's objects with owners, what is read from them, and what an authority signs. For the sources of keys/ alone: headers that others
// include speak of PEM text. Every function leaves OpenSSL's queue of errors empty, so that nobody else in the
// process finds our failures there.

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

// What OpenSSL has to say about the failure just met: "`doing`: its reason". Empties its queue.
Status OpenSslError(std::string_view doing);

// From PEM. There must be exactly one certificate; text around it is passed over. kCorrupt for anything else.
StatusOr<CertificatePtr> ParseCertificate(std::string_view pem);
// A key that is encrypted is decrypted with what `ask` says; without `ask` it is refused.
StatusOr<KeyPtr> ParseKey(std::string_view pem, const Passphrase& ask = {});
StatusOr<CrlPtr> ParseCrl(std::string_view pem);

StatusOr<std::string> ToPem(const X509& certificate);
StatusOr<std::string> ToPem(const EVP_PKEY& key);
// The same encrypted: PKCS #8 with AES-256, whose key is made from the passphrase by scrypt.
StatusOr<std::string> ToEncryptedPem(const EVP_PKEY& key, std::string_view passphrase);
StatusOr<std::string> ToPem(const X509_CRL& crl);

// The party a certificate is made out to: its one alternative name must be a host of ours.
StatusOr<std::string> PartyName(const X509& certificate);
std::string SerialText(const ASN1_INTEGER& serial);
StatusOr<std::time_t> ToTime(const ASN1_TIME& time);

// What a revocation list says: which serial numbers, since when. Each list of an authority has a greater number than
// the one before. After `next_update` it no longer counts.
struct Revocations {
  std::uint64_t number = 0;
  std::time_t next_update = 0;  // set by ReadRevocations
  std::map<std::string, std::time_t, std::less<>> serials;
};
StatusOr<Revocations> ReadRevocations(X509_CRL& crl);

// Whether `authority` signed it. Says nothing about time.
bool SignedBy(X509& certificate, X509& authority);
bool SignedBy(X509_CRL& crl, X509& authority);

// The signatures of an authority: what is in a certificate is decided here. Keys are ECDSA over P-256; serial numbers
// are 128 random bits. Everything becomes valid some minutes before `now`, because clocks differ between machines.

struct KeyPair {
  CertificatePtr certificate;
  KeyPtr key;
};

StatusOr<KeyPtr> MakeKey();

// An authority that signs parties, and no further authorities.
StatusOr<KeyPair> MakeAuthority(std::time_t now, std::chrono::days validity);

// A party's certificate for that key, good for both ends of a connection. It ends with the authority's at the latest; an
// authority that has expired at `now` is refused.
StatusOr<CertificatePtr> SignParty(const KeyPair& authority, std::string_view name, EVP_PKEY& key,
                                   std::time_t now, std::chrono::days validity);
// The same with a new key.
StatusOr<KeyPair> MakeParty(const KeyPair& authority, std::string_view name, std::time_t now,
                            std::chrono::days validity);

// A list that is valid for so long, and no longer than the authority.
StatusOr<CrlPtr> SignRevocations(const KeyPair& authority, const Revocations& revocations, std::time_t now,
                                 std::chrono::days validity);

}  // namespace tributary::inline keys
