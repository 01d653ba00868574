#include "tributary/keys/certificate_request.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include <array>

#include "tributary/keys/party_name.h"

namespace tributary::inline keys {
namespace {

constexpr std::string_view kCurve = "prime256v1";

bool IsP256(const EVP_PKEY& key) {
  std::array<char, 32> group{};
  std::size_t length = 0;
  const bool known = EVP_PKEY_get_base_id(&key) == EVP_PKEY_EC &&
                     EVP_PKEY_get_group_name(&key, group.data(), group.size(), &length) == 1;
  return known && std::string_view(group.data(), length) == kCurve;
}

// The only common name, with any bytes; empty if there is none or more than one.
std::string CommonName(const X509_REQ& request) {
  X509_NAME* const subject = X509_REQ_get_subject_name(&request);
  const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (at < 0 || X509_NAME_get_index_by_NID(subject, NID_commonName, at) >= 0) return "";
  unsigned char* text = nullptr;
  const int length = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
  std::string name;
  if (length > 0) name.assign(reinterpret_cast<const char*>(text), static_cast<std::size_t>(length));
  OPENSSL_free(text);
  return name;
}

}  // namespace

StatusOr<RequestPtr> MakeRequest(std::string_view name, EVP_PKEY& key) {
  RequestPtr request(X509_REQ_new());
  const bool made =
      request && X509_REQ_set_version(request.get(), X509_REQ_VERSION_1) == 1 &&
      X509_NAME_add_entry_by_NID(X509_REQ_get_subject_name(request.get()), NID_commonName, MBSTRING_UTF8,
                                 reinterpret_cast<const unsigned char*>(name.data()),
                                 static_cast<int>(name.size()), -1, 0) == 1 &&
      X509_REQ_set_pubkey(request.get(), &key) == 1 && X509_REQ_sign(request.get(), &key, EVP_sha256()) > 0;
  if (!made) return OpenSslError("cannot make a certificate request");
  return request;
}

StatusOr<RequestPtr> ParseRequest(std::string_view pem) {
  const BioPtr reader(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  RequestPtr request(reader ? PEM_read_bio_X509_REQ(reader.get(), nullptr, nullptr, nullptr) : nullptr);
  ERR_clear_error();
  if (!request) return Corrupt("not a certificate request in PEM form");
  return request;
}

StatusOr<std::string> ToPem(const X509_REQ& request) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  if (!bio || PEM_write_bio_X509_REQ(bio.get(), &request) != 1) return OpenSslError("cannot write PEM");
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return std::string(data, static_cast<std::size_t>(size));
}

StatusOr<RequestedParty> ReadRequest(X509_REQ& request) {
  RequestedParty party{CommonName(request), KeyPtr(X509_REQ_get_pubkey(&request))};
  const bool fits = party.public_key && IsP256(*party.public_key);
  const bool proven = fits && X509_REQ_verify(&request, party.public_key.get()) == 1;
  ERR_clear_error();
  if (!fits) {
    return InvalidArgument(
        "the key of the certificate request is not ECDSA P-256; make it with 'tributary keys request NAME'");
  }
  if (!proven) {
    return InvalidArgument(
        "the certificate request was not signed by its own key, so nothing shows that its sender has that "
        "key");
  }
  if (party.name.empty()) return InvalidArgument("the certificate request does not have one common name");
  TRIBUTARY_RETURN_IF_ERROR(CheckPartyName(party.name, RoleOfName(party.name)));
  return party;
}

StatusOr<std::string> KeyFingerprint(const EVP_PKEY& key) {
  unsigned char* der = nullptr;
  const int size = i2d_PUBKEY(&key, &der);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  const bool made = size > 0 && EVP_Digest(der, static_cast<std::size_t>(size), digest.data(), &length,
                                           EVP_sha256(), nullptr) == 1;
  OPENSSL_free(der);
  if (!made) return OpenSslError("cannot make the fingerprint of a key");
  std::string text;
  for (unsigned i = 0; i < length; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

}  // namespace tributary::inline keys
