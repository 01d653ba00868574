#include "tributary/keys/x509.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "tributary/keys/party_name.h"

namespace tributary::inline keys {
namespace {

// The default asks at the terminal.
int NoPassword(char*, int, int, void*) { return -1; }

BioPtr Reader(std::string_view text) {
  return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

template <typename Write>
StatusOr<std::string> WritePem(Write write) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  if (!bio || write(bio.get()) != 1) return OpenSslError("cannot write PEM");
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return std::string(data, static_cast<std::size_t>(size));
}

}  // namespace

Status OpenSslError(std::string_view doing) {
  const char* reason = ERR_reason_error_string(ERR_peek_error());
  ERR_clear_error();
  return IoError(std::string(doing) + ": " + (reason == nullptr ? "OpenSSL gives no reason" : reason));
}

StatusOr<CertificatePtr> ParseCertificate(std::string_view pem) {
  const BioPtr reader = Reader(pem);
  CertificatePtr certificate(reader ? PEM_read_bio_X509(reader.get(), nullptr, NoPassword, nullptr)
                                    : nullptr);
  const bool more =
      certificate && CertificatePtr(PEM_read_bio_X509(reader.get(), nullptr, NoPassword, nullptr));
  ERR_clear_error();
  if (!certificate) return Corrupt("not a certificate in PEM form");
  if (more) return Corrupt("more than one certificate, where there should be one");
  return certificate;
}

StatusOr<KeyPtr> ParseKey(std::string_view pem) {
  const BioPtr reader = Reader(pem);
  KeyPtr key(reader ? PEM_read_bio_PrivateKey(reader.get(), nullptr, NoPassword, nullptr) : nullptr);
  ERR_clear_error();
  if (!key) return Corrupt("not a private key in PEM form without a password");
  return key;
}

StatusOr<CrlPtr> ParseCrl(std::string_view pem) {
  const BioPtr reader = Reader(pem);
  CrlPtr crl(reader ? PEM_read_bio_X509_CRL(reader.get(), nullptr, NoPassword, nullptr) : nullptr);
  ERR_clear_error();
  if (!crl) return Corrupt("not a revocation list in PEM form");
  return crl;
}

StatusOr<std::string> ToPem(const X509& certificate) {
  return WritePem([&](BIO* bio) { return PEM_write_bio_X509(bio, &certificate); });
}

StatusOr<std::string> ToPem(const EVP_PKEY& key) {
  return WritePem([&](BIO* bio) {
    return PEM_write_bio_PKCS8PrivateKey(bio, &key, nullptr, nullptr, 0, nullptr, nullptr);
  });
}

StatusOr<std::string> ToPem(const X509_CRL& crl) {
  return WritePem([&](BIO* bio) { return PEM_write_bio_X509_CRL(bio, &crl); });
}

StatusOr<std::string> PartyName(const X509& certificate) {
  const std::unique_ptr<GENERAL_NAMES, FreedBy<GENERAL_NAMES_free>> names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr)));
  ERR_clear_error();
  // With a second name a certificate could be one party to us and another to the library that made the connection.
  if (names && sk_GENERAL_NAME_num(names.get()) == 1) {
    const GENERAL_NAME* only = sk_GENERAL_NAME_value(names.get(), 0);
    if (only->type == GEN_DNS) {
      const ASN1_STRING* host = only->d.dNSName;
      const auto* data = reinterpret_cast<const char*>(ASN1_STRING_get0_data(host));
      auto name = NameFromHost({data, static_cast<std::size_t>(ASN1_STRING_length(host))});
      if (name) return *std::move(name);
    }
  }
  return InvalidArgument(
      "the certificate is not made out to a party of a fleet (to one host NAME.tributary)");
}

std::string SerialText(const ASN1_INTEGER& serial) {
  const std::unique_ptr<BIGNUM, FreedBy<BN_free>> number(ASN1_INTEGER_to_BN(&serial, nullptr));
  char* text = number ? BN_bn2hex(number.get()) : nullptr;
  std::string result = text == nullptr ? "" : text;
  OPENSSL_free(text);
  ERR_clear_error();
  return result;
}

StatusOr<std::time_t> ToTime(const ASN1_TIME& time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(&time, &parts) != 1) {
    ERR_clear_error();
    return Corrupt("a date that is none");
  }
  return ::timegm(&parts);
}

StatusOr<Revocations> ReadRevocations(X509_CRL& crl) {
  Revocations revocations;
  const std::unique_ptr<ASN1_INTEGER, FreedBy<ASN1_INTEGER_free>> number(
      static_cast<ASN1_INTEGER*>(X509_CRL_get_ext_d2i(&crl, NID_crl_number, nullptr, nullptr)));
  const bool numbered = number && ASN1_INTEGER_get_uint64(&revocations.number, number.get()) == 1;
  ERR_clear_error();
  if (!numbered) return Corrupt("the revocation list has no number");
  STACK_OF(X509_REVOKED)* entries = X509_CRL_get_REVOKED(&crl);
  for (int i = 0; i < sk_X509_REVOKED_num(entries); ++i) {
    const X509_REVOKED* entry = sk_X509_REVOKED_value(entries, i);
    TRIBUTARY_ASSIGN_OR_RETURN(const std::time_t since, ToTime(*X509_REVOKED_get0_revocationDate(entry)));
    revocations.serials.emplace(SerialText(*X509_REVOKED_get0_serialNumber(entry)), since);
  }
  return revocations;
}

bool SignedBy(X509& certificate, X509& authority) {
  EVP_PKEY* key = X509_get0_pubkey(&authority);
  const bool by = key != nullptr && X509_check_issued(&authority, &certificate) == X509_V_OK &&
                  X509_verify(&certificate, key) == 1;
  ERR_clear_error();
  return by;
}

bool SignedBy(X509_CRL& crl, X509& authority) {
  EVP_PKEY* key = X509_get0_pubkey(&authority);
  const bool by = key != nullptr && X509_CRL_verify(&crl, key) == 1;
  ERR_clear_error();
  return by;
}

}  // namespace tributary::inline keys
