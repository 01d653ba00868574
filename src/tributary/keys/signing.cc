#include "tributary/keys/signing.h"

#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <algorithm>

#include "tributary/keys/issued.h"
#include "tributary/keys/party_name.h"

namespace tributary::inline keys {
namespace {

using BignumPtr = std::unique_ptr<BIGNUM, FreedBy<BN_free>>;
using IntegerPtr = std::unique_ptr<ASN1_INTEGER, FreedBy<ASN1_INTEGER_free>>;
using TimePtr = std::unique_ptr<ASN1_TIME, FreedBy<ASN1_TIME_free>>;
using ExtensionPtr = std::unique_ptr<X509_EXTENSION, FreedBy<X509_EXTENSION_free>>;

constexpr std::time_t kClocksDiffer = 10 * 60;
constexpr std::chrono::days kLongest{36500};

// Serial numbers are positive and unique for the authority: chance sees to both.
IntegerPtr RandomSerial() {
  const BignumPtr number(BN_new());
  if (!number || BN_rand(number.get(), 128, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) != 1) return nullptr;
  return IntegerPtr(BN_to_ASN1_INTEGER(number.get(), nullptr));
}

bool Extend(X509& certificate, X509& issuer, int kind, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, &issuer, &certificate, nullptr, nullptr, 0);
  const ExtensionPtr extension(X509V3_EXT_conf_nid(nullptr, &context, kind, value));
  return extension && X509_add_ext(&certificate, extension.get(), -1) == 1;
}

StatusOr<std::time_t> End(std::time_t now, std::chrono::days validity) {
  if (validity < std::chrono::days(1) || validity > kLongest) {
    return InvalidArgument("a certificate cannot be valid for " + std::to_string(validity.count()) +
                           " days; allowed: 1 to " + std::to_string(kLongest.count()));
  }
  return now + std::chrono::seconds(validity).count();
}

// A new key and all of a certificate but extensions and signature.
StatusOr<KeyPair> Draft(const std::string& common_name, std::time_t now, std::time_t end) {
  KeyPair draft{CertificatePtr(X509_new()), KeyPtr(EVP_EC_gen("P-256"))};
  const IntegerPtr serial = RandomSerial();
  X509* certificate = draft.certificate.get();
  const auto* name = reinterpret_cast<const unsigned char*>(common_name.c_str());
  const bool made = certificate != nullptr && draft.key && serial &&
                    X509_set_version(certificate, X509_VERSION_3) == 1 &&
                    X509_set_serialNumber(certificate, serial.get()) == 1 &&
                    X509_set_pubkey(certificate, draft.key.get()) == 1 &&
                    ASN1_TIME_set(X509_getm_notBefore(certificate), now - kClocksDiffer) != nullptr &&
                    ASN1_TIME_set(X509_getm_notAfter(certificate), end) != nullptr &&
                    X509_NAME_add_entry_by_NID(X509_get_subject_name(certificate), NID_commonName,
                                               MBSTRING_UTF8, name, -1, -1, 0) == 1;
  if (!made) return OpenSslError("cannot make a certificate");
  return draft;
}

}  // namespace

StatusOr<KeyPair> MakeAuthority(std::time_t now, std::chrono::days validity) {
  TRIBUTARY_ASSIGN_OR_RETURN(const std::time_t end, End(now, validity));
  // Some letters of chance, so that people and programs can tell two authorities apart.
  const IntegerPtr mark = RandomSerial();
  if (!mark) return OpenSslError("cannot make a serial number");
  TRIBUTARY_ASSIGN_OR_RETURN(KeyPair authority,
                             Draft("Tributary authority " + SerialText(*mark).substr(0, 8), now, end));
  X509& certificate = *authority.certificate;
  const bool made = X509_set_issuer_name(&certificate, X509_get_subject_name(&certificate)) == 1 &&
                    Extend(certificate, certificate, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
                    Extend(certificate, certificate, NID_key_usage, "critical,keyCertSign,cRLSign") &&
                    Extend(certificate, certificate, NID_subject_key_identifier, "hash") &&
                    Extend(certificate, certificate, NID_authority_key_identifier, "keyid:always") &&
                    X509_sign(&certificate, authority.key.get(), EVP_sha256()) > 0;
  if (!made) return OpenSslError("cannot make a certificate");
  return authority;
}

StatusOr<KeyPair> MakeParty(const KeyPair& authority, std::string_view name, std::time_t now,
                            std::chrono::days validity) {
  TRIBUTARY_ASSIGN_OR_RETURN(const std::time_t end, End(now, validity));
  X509& issuer = *authority.certificate;
  TRIBUTARY_ASSIGN_OR_RETURN(const std::time_t issuer_end, ToTime(*X509_get0_notAfter(&issuer)));
  if (now > issuer_end) {
    return InvalidArgument("the authority's certificate expired on " + FormatUtc(issuer_end) +
                           "; make a new authority with 'tributary keys init'");
  }
  TRIBUTARY_ASSIGN_OR_RETURN(KeyPair party, Draft(std::string(name), now, std::min(end, issuer_end)));
  X509& certificate = *party.certificate;
  const std::string host = "DNS:" + CertificateHost(name);
  const bool made = X509_set_issuer_name(&certificate, X509_get_subject_name(&issuer)) == 1 &&
                    Extend(certificate, issuer, NID_basic_constraints, "critical,CA:FALSE") &&
                    Extend(certificate, issuer, NID_key_usage, "critical,digitalSignature") &&
                    Extend(certificate, issuer, NID_ext_key_usage, "serverAuth,clientAuth") &&
                    Extend(certificate, issuer, NID_subject_alt_name, host.c_str()) &&
                    Extend(certificate, issuer, NID_subject_key_identifier, "hash") &&
                    Extend(certificate, issuer, NID_authority_key_identifier, "keyid:always") &&
                    X509_sign(&certificate, authority.key.get(), EVP_sha256()) > 0;
  if (!made) return OpenSslError("cannot make a certificate");
  return party;
}

StatusOr<CrlPtr> SignRevocations(const KeyPair& authority, const Revocations& revocations, std::time_t now) {
  CrlPtr crl(X509_CRL_new());
  const TimePtr from(ASN1_TIME_set(nullptr, now - kClocksDiffer));
  const IntegerPtr number(ASN1_INTEGER_new());
  X509& issuer = *authority.certificate;
  X509V3_CTX context;
  X509V3_set_ctx(&context, &issuer, nullptr, nullptr, crl.get(), 0);
  const ExtensionPtr key_id(
      X509V3_EXT_conf_nid(nullptr, &context, NID_authority_key_identifier, "keyid:always"));
  bool made = crl && from && number && key_id && X509_CRL_set_version(crl.get(), X509_CRL_VERSION_2) == 1 &&
              X509_CRL_set_issuer_name(crl.get(), X509_get_subject_name(&issuer)) == 1 &&
              X509_CRL_set1_lastUpdate(crl.get(), from.get()) == 1 &&
              X509_CRL_set1_nextUpdate(crl.get(), X509_get0_notAfter(&issuer)) == 1 &&
              X509_CRL_add_ext(crl.get(), key_id.get(), -1) == 1 &&
              ASN1_INTEGER_set_uint64(number.get(), revocations.number) == 1 &&
              X509_CRL_add1_ext_i2d(crl.get(), NID_crl_number, number.get(), 0, 0) == 1;
  for (const auto& [serial, since] : revocations.serials) {
    BIGNUM* read = nullptr;
    const int digits = BN_hex2bn(&read, serial.c_str());
    const BignumPtr value(read);
    const IntegerPtr integer(digits > 0 ? BN_to_ASN1_INTEGER(value.get(), nullptr) : nullptr);
    const TimePtr date(ASN1_TIME_set(nullptr, since));
    std::unique_ptr<X509_REVOKED, FreedBy<X509_REVOKED_free>> entry(X509_REVOKED_new());
    made = made && integer && date && entry &&
           X509_REVOKED_set_serialNumber(entry.get(), integer.get()) == 1 &&
           X509_REVOKED_set_revocationDate(entry.get(), date.get()) == 1 &&
           X509_CRL_add0_revoked(crl.get(), entry.get()) == 1;
    if (!made) break;
    (void)entry.release();  // The list owns it now.
  }
  made = made && X509_CRL_sort(crl.get()) == 1 &&
         X509_CRL_sign(crl.get(), authority.key.get(), EVP_sha256()) > 0;
  if (!made) return OpenSslError("cannot make a revocation list");
  return crl;
}

}  // namespace tributary::inline keys
