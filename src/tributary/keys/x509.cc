#include "tributary/keys/x509.h"

#include <fmt/format.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>

#include "tributary/keys/issued.h"
#include "tributary/keys/party_name.h"

namespace tributary::inline keys {
namespace {

using BignumPtr = std::unique_ptr<BIGNUM, FreedBy<BN_free>>;
using IntegerPtr = std::unique_ptr<ASN1_INTEGER, FreedBy<ASN1_INTEGER_free>>;
using TimePtr = std::unique_ptr<ASN1_TIME, FreedBy<ASN1_TIME_free>>;
using ExtensionPtr = std::unique_ptr<X509_EXTENSION, FreedBy<X509_EXTENSION_free>>;

// OpenSSL's default callback prompts at the terminal.
int NoPassword(char*, int, int, void*) { return -1; }

BioPtr Reader(std::string_view text) {
  return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// The first object of its kind in the text, or null.
template <auto kRead>
auto* ReadPem(std::string_view pem) {
  const BioPtr reader = Reader(pem);
  auto* object = reader ? kRead(reader.get(), nullptr, NoPassword, nullptr) : nullptr;
  ERR_clear_error();
  return object;
}

constexpr std::size_t kMostAuthorities = 2;

// All objects of a kind, up to one more than there may be.
template <typename Pointer, auto kRead>
std::vector<Pointer> ReadAll(std::string_view pem) {
  std::vector<Pointer> objects;
  const BioPtr reader = Reader(pem);
  while (reader && objects.size() <= kMostAuthorities) {
    Pointer next(kRead(reader.get(), nullptr, NoPassword, nullptr));
    if (!next) break;
    objects.push_back(std::move(next));
  }
  ERR_clear_error();
  return objects;
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
  TRIBUTARY_ASSIGN_OR_RETURN(std::vector<CertificatePtr> certificates, ParseCertificates(pem));
  if (certificates.size() > 1) return Corrupt("more than one certificate, where there should be one");
  return std::move(certificates.front());
}

StatusOr<std::vector<CertificatePtr>> ParseCertificates(std::string_view pem) {
  auto certificates = ReadAll<CertificatePtr, PEM_read_bio_X509>(pem);
  if (certificates.empty()) return Corrupt("not a certificate in PEM form");
  if (certificates.size() > kMostAuthorities)
    return Corrupt("more than two certificates; allowed: one, or two while an authority is replaced");
  return certificates;
}

bool IsEncrypted(std::string_view key_pem) {
  return key_pem.find("-----BEGIN ENCRYPTED PRIVATE KEY-----") != std::string_view::npos;
}

StatusOr<KeyPtr> ParseKey(std::string_view pem, const Passphrase& ask) {
  if (ask && IsEncrypted(pem)) {
    TRIBUTARY_ASSIGN_OR_RETURN(std::string passphrase, ask());
    const BioPtr reader = Reader(pem);
    // Without a callback, OpenSSL uses the callback's argument as the passphrase.
    KeyPtr key(reader ? PEM_read_bio_PrivateKey(reader.get(), nullptr, nullptr, passphrase.data()) : nullptr);
    ERR_clear_error();
    OPENSSL_cleanse(passphrase.data(), passphrase.size());
    if (!key) return InvalidArgument("the passphrase is not that of this key");
    return key;
  }
  KeyPtr key(ReadPem<PEM_read_bio_PrivateKey>(pem));
  if (!key) return Corrupt("not a private key in PEM form without a password");
  return key;
}

StatusOr<std::vector<CrlPtr>> ParseCrls(std::string_view pem) {
  auto lists = ReadAll<CrlPtr, PEM_read_bio_X509_CRL>(pem);
  if (lists.empty()) return Corrupt("not a revocation list in PEM form");
  if (lists.size() > kMostAuthorities)
    return Corrupt("more than two revocation lists; allowed: one, or two while an authority is replaced");
  return lists;
}

StatusOr<std::string> ToPem(const X509& certificate) {
  return WritePem([&](BIO* bio) { return PEM_write_bio_X509(bio, &certificate); });
}

StatusOr<std::string> ToPem(const EVP_PKEY& key) {
  return WritePem([&](BIO* bio) {
    return PEM_write_bio_PKCS8PrivateKey(bio, &key, nullptr, nullptr, 0, nullptr, nullptr);
  });
}

StatusOr<std::string> ToEncryptedPem(const EVP_PKEY& key, std::string_view passphrase) {
  constexpr std::uint64_t kCost = 1 << 14, kBlock = 8, kParallel = 1;  // 16 MiB
  const std::unique_ptr<PKCS8_PRIV_KEY_INFO, FreedBy<PKCS8_PRIV_KEY_INFO_free>> plain(EVP_PKEY2PKCS8(&key));
  X509_ALGOR* const how =
      PKCS5_pbe2_set_scrypt(EVP_aes_256_cbc(), nullptr, 0, nullptr, kCost, kBlock, kParallel);
  const std::unique_ptr<X509_SIG, FreedBy<X509_SIG_free>> sealed(
      plain && how != nullptr
          ? PKCS8_set0_pbe(passphrase.data(), static_cast<int>(passphrase.size()), plain.get(), how)
          : nullptr);
  if (!sealed) {
    X509_ALGOR_free(how);
    return OpenSslError("cannot encrypt a key");
  }
  return WritePem([&](BIO* bio) { return PEM_write_bio_PKCS8(bio, sealed.get()); });
}

StatusOr<std::string> ToPem(const X509_CRL& crl) {
  return WritePem([&](BIO* bio) { return PEM_write_bio_X509_CRL(bio, &crl); });
}

namespace {

// The only alternative name, if it is a host of the form NAME.tributary. With a second name, this code and the TLS
// library could take the certificate for different parties.
std::optional<std::string> OnlyName(const X509& certificate) {
  const std::unique_ptr<GENERAL_NAMES, FreedBy<GENERAL_NAMES_free>> names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr)));
  ERR_clear_error();
  if (!names || sk_GENERAL_NAME_num(names.get()) != 1) return std::nullopt;
  const GENERAL_NAME* only = sk_GENERAL_NAME_value(names.get(), 0);
  if (only->type != GEN_DNS) return std::nullopt;
  const ASN1_STRING* host = only->d.dNSName;
  const auto* data = reinterpret_cast<const char*>(ASN1_STRING_get0_data(host));
  return NameFromHost({data, static_cast<std::size_t>(ASN1_STRING_length(host))});
}

// The role in the subject, or that of the name; nullopt for an unknown role, and for several.
std::optional<Role> OnlyRole(const X509& certificate, const std::string& name) {
  const X509_NAME* const subject = X509_get_subject_name(&certificate);
  const int at = X509_NAME_get_index_by_NID(subject, NID_organizationalUnitName, -1);
  if (at < 0) return RoleOfName(name);
  if (X509_NAME_get_index_by_NID(subject, NID_organizationalUnitName, at) >= 0) return std::nullopt;
  const ASN1_STRING* unit = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at));
  const auto* data = reinterpret_cast<const char*>(ASN1_STRING_get0_data(unit));
  return RoleNamed({data, static_cast<std::size_t>(ASN1_STRING_length(unit))});
}

}  // namespace

StatusOr<Party> PartyOf(const X509& certificate) {
  const std::optional<std::string> name = OnlyName(certificate);
  if (!name) {
    return InvalidArgument(
        "the certificate is not made out to a party of a fleet (to one host NAME.tributary)");
  }
  const std::optional<Role> role = OnlyRole(certificate, *name);
  if (!role) {
    return InvalidArgument("the certificate of '" + *name +
                           "' does not have one role: device, observer, operator or coordinator");
  }
  return Party{*name, *role};
}

std::string SerialText(const ASN1_INTEGER& serial) {
  const BignumPtr number(ASN1_INTEGER_to_BN(&serial, nullptr));
  char* text = number ? BN_bn2hex(number.get()) : nullptr;
  std::string result = text == nullptr ? "" : text;
  OPENSSL_free(text);
  ERR_clear_error();
  return result;
}

StatusOr<std::time_t> ToTime(const ASN1_TIME& time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(&time, &parts) == 1) return ::timegm(&parts);
  ERR_clear_error();
  return Corrupt("an invalid date");
}

StatusOr<Revocations> ReadRevocations(X509_CRL& crl) {
  Revocations revocations;
  const IntegerPtr number(
      static_cast<ASN1_INTEGER*>(X509_CRL_get_ext_d2i(&crl, NID_crl_number, nullptr, nullptr)));
  const bool numbered = number && ASN1_INTEGER_get_uint64(&revocations.number, number.get()) == 1;
  ERR_clear_error();
  if (!numbered) return Corrupt("the revocation list has no number");
  const ASN1_TIME* const next = X509_CRL_get0_nextUpdate(&crl);
  if (next == nullptr) return Corrupt("the revocation list does not say how long it is valid");
  TRIBUTARY_ASSIGN_OR_RETURN(revocations.next_update, ToTime(*next));
  STACK_OF(X509_REVOKED)* entries = X509_CRL_get_REVOKED(&crl);
  for (int i = 0; i < sk_X509_REVOKED_num(entries); ++i) {
    const X509_REVOKED* entry = sk_X509_REVOKED_value(entries, i);
    TRIBUTARY_ASSIGN_OR_RETURN(const std::time_t since, ToTime(*X509_REVOKED_get0_revocationDate(entry)));
    revocations.serials.emplace(SerialText(*X509_REVOKED_get0_serialNumber(entry)), since);
  }
  return revocations;
}

std::string AuthorityName(const X509& certificate) {
  std::array<char, 80> text{};
  const int size = X509_NAME_get_text_by_NID(X509_get_subject_name(&certificate), NID_commonName, text.data(),
                                             static_cast<int>(text.size()));
  ERR_clear_error();
  return {text.data(), static_cast<std::size_t>(std::max(size, 0))};
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

namespace {

constexpr std::time_t kClocksDiffer = 10 * 60;
constexpr std::chrono::days kLongest{36500};

// Random bits make serial numbers positive and unique for the authority.
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

StatusOr<std::time_t> End(std::time_t now, std::chrono::days validity, const char* what = "certificate") {
  if (validity < std::chrono::days(1) || validity > kLongest) {
    return InvalidArgument(fmt::format("a {} cannot be valid for {} days; allowed: 1 to {}", what,
                                       validity.count(), kLongest.count()));
  }
  return now + std::chrono::seconds(validity).count();
}

// A certificate without extensions and signature.
StatusOr<CertificatePtr> Draft(const std::string& common_name, std::string_view unit, EVP_PKEY& key,
                               std::time_t now, std::time_t end) {
  CertificatePtr draft(X509_new());
  const IntegerPtr serial = RandomSerial();
  X509* certificate = draft.get();
  const auto* name = reinterpret_cast<const unsigned char*>(common_name.c_str());
  const auto* role = reinterpret_cast<const unsigned char*>(unit.data());
  const bool made =
      certificate != nullptr && serial && X509_set_version(certificate, X509_VERSION_3) == 1 &&
      X509_set_serialNumber(certificate, serial.get()) == 1 && X509_set_pubkey(certificate, &key) == 1 &&
      ASN1_TIME_set(X509_getm_notBefore(certificate), now - kClocksDiffer) != nullptr &&
      ASN1_TIME_set(X509_getm_notAfter(certificate), end) != nullptr &&
      X509_NAME_add_entry_by_NID(X509_get_subject_name(certificate), NID_commonName, MBSTRING_UTF8, name, -1,
                                 -1, 0) == 1 &&
      (unit.empty() ||
       X509_NAME_add_entry_by_NID(X509_get_subject_name(certificate), NID_organizationalUnitName,
                                  MBSTRING_UTF8, role, static_cast<int>(unit.size()), -1, 0) == 1);
  if (!made) return OpenSslError("cannot make a certificate");
  return draft;
}

}  // namespace

StatusOr<KeyPtr> MakeKey() {
  KeyPtr key(EVP_EC_gen("P-256"));
  if (!key) return OpenSslError("cannot make a key");
  return key;
}

StatusOr<KeyPair> MakeAuthority(std::time_t now, std::chrono::days validity) {
  TRIBUTARY_ASSIGN_OR_RETURN(const std::time_t end, End(now, validity));
  // Random digits in the name, so that people and programs can distinguish two authorities.
  const IntegerPtr mark = RandomSerial();
  if (!mark) return OpenSslError("cannot make a serial number");
  KeyPair authority;
  TRIBUTARY_ASSIGN_OR_RETURN(authority.key, MakeKey());
  TRIBUTARY_ASSIGN_OR_RETURN(
      authority.certificate,
      Draft("Tributary authority " + SerialText(*mark).substr(0, 8), "", *authority.key, now, end));
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

StatusOr<CertificatePtr> SignParty(const KeyPair& authority, const Party& party, EVP_PKEY& key,
                                   std::time_t now, std::chrono::days validity) {
  TRIBUTARY_ASSIGN_OR_RETURN(const std::time_t end, End(now, validity));
  X509& issuer = *authority.certificate;
  TRIBUTARY_ASSIGN_OR_RETURN(const std::time_t issuer_end, ToTime(*X509_get0_notAfter(&issuer)));
  if (now > issuer_end) {
    return InvalidArgument("the authority's certificate expired on " + FormatUtc(issuer_end) +
                           "; make a new authority with 'tributary keys init'");
  }
  TRIBUTARY_ASSIGN_OR_RETURN(CertificatePtr draft,
                             Draft(party.name, NameOf(party.role), key, now, std::min(end, issuer_end)));
  X509& certificate = *draft;
  const std::string host = "DNS:" + CertificateHost(party.name);
  const bool serves = May(party.role, Right::kLead) || May(party.role, Right::kTakePart);
  const bool made =
      X509_set_issuer_name(&certificate, X509_get_subject_name(&issuer)) == 1 &&
      Extend(certificate, issuer, NID_basic_constraints, "critical,CA:FALSE") &&
      Extend(certificate, issuer, NID_key_usage, "critical,digitalSignature") &&
      Extend(certificate, issuer, NID_ext_key_usage, serves ? "serverAuth,clientAuth" : "clientAuth") &&
      Extend(certificate, issuer, NID_subject_alt_name, host.c_str()) &&
      Extend(certificate, issuer, NID_subject_key_identifier, "hash") &&
      Extend(certificate, issuer, NID_authority_key_identifier, "keyid:always") &&
      X509_sign(&certificate, authority.key.get(), EVP_sha256()) > 0;
  if (!made) return OpenSslError("cannot make a certificate");
  return draft;
}

StatusOr<KeyPair> MakeParty(const KeyPair& authority, const Party& party, std::time_t now,
                            std::chrono::days validity) {
  KeyPair pair;
  TRIBUTARY_ASSIGN_OR_RETURN(pair.key, MakeKey());
  TRIBUTARY_ASSIGN_OR_RETURN(pair.certificate, SignParty(authority, party, *pair.key, now, validity));
  return pair;
}

StatusOr<CrlPtr> SignRevocations(const KeyPair& authority, const Revocations& revocations, std::time_t now,
                                 std::chrono::days validity) {
  X509& issuer = *authority.certificate;
  TRIBUTARY_ASSIGN_OR_RETURN(const std::time_t end, End(now, validity, "revocation list"));
  TRIBUTARY_ASSIGN_OR_RETURN(const std::time_t issuer_end, ToTime(*X509_get0_notAfter(&issuer)));
  CrlPtr crl(X509_CRL_new());
  const TimePtr from(ASN1_TIME_set(nullptr, now - kClocksDiffer));
  const TimePtr next(ASN1_TIME_set(nullptr, std::min(end, issuer_end)));
  const IntegerPtr number(ASN1_INTEGER_new());
  X509V3_CTX context;
  X509V3_set_ctx(&context, &issuer, nullptr, nullptr, crl.get(), 0);
  const ExtensionPtr key_id(
      X509V3_EXT_conf_nid(nullptr, &context, NID_authority_key_identifier, "keyid:always"));
  bool made = crl && from && next && number && key_id &&
              X509_CRL_set_version(crl.get(), X509_CRL_VERSION_2) == 1 &&
              X509_CRL_set_issuer_name(crl.get(), X509_get_subject_name(&issuer)) == 1 &&
              X509_CRL_set1_lastUpdate(crl.get(), from.get()) == 1 &&
              X509_CRL_set1_nextUpdate(crl.get(), next.get()) == 1 &&
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
