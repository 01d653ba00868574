#include <openssl/pem.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "tributary/base/check.h"
#include "tributary/keys/certificate_request.h"
#include "tributary/keys/credentials.h"
#include "tributary/keys/issued.h"
#include "tributary/keys/party_name.h"
#include "tributary/keys/x509.h"

namespace tributary::inline keys {
namespace {

// So that chance need not find the way through base64.
std::string Pem(const char* label, std::string_view bytes) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  PEM_write_bio(bio.get(), label, "", reinterpret_cast<const unsigned char*>(bytes.data()),
                static_cast<long>(bytes.size()));
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

void TryCertificate(const std::string& pem) {
  const auto party = PartyInCertificate(pem);
  if (party.ok()) TRIBUTARY_CHECK(NameFromHost(CertificateHost(party->name)) == party->name);
  const auto certificate = ParseCertificate(pem);
  // As its own authority: what a signature is looked at with is the peer's as well.
  if (certificate.ok()) SignedBy(**certificate, **certificate);
}

void TryList(const std::string& pem) {
  const auto lists = ParseCrls(pem);
  if (!lists.ok()) return;
  for (const CrlPtr& crl : *lists) {
    const auto revocations = ReadRevocations(*crl);
    if (revocations.ok()) TRIBUTARY_CHECK(!revocations->serials.contains(""));
  }
}

void TryRequest(const std::string& pem) {
  const auto request = ParseRequest(pem);
  if (!request.ok()) return;
  const auto party = ReadRequest(**request);
  if (party.ok()) TRIBUTARY_CHECK(NameFromHost(CertificateHost(party->name)) == party->name);
}

}  // namespace
}  // namespace tributary::inline keys

// The first byte says what the rest is.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tributary;
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0]) {
    case 'C':
      TryCertificate(Pem(PEM_STRING_X509, text));
      break;
    case 'R':
      TryList(Pem(PEM_STRING_X509_CRL, text));
      break;
    case 'Q':
      TryRequest(Pem(PEM_STRING_X509_REQ, text));
      break;
    case 'q':
      TryRequest(text);
      break;
    case 'c':
      TryCertificate(text);
      break;
    case 'r':
      TryList(text);
      break;
    case 'k':
      static_cast<void>(ParseKey(text));
      break;
    case 'i': {
      const auto issued = ParseIssued(text);
      if (issued.ok()) TRIBUTARY_CHECK(*ParseIssued(FormatIssued(*issued)) == *issued);
      break;
    }
    default: {
      const auto name = NameFromHost(text);
      if (name) TRIBUTARY_CHECK(CertificateHost(*name) == text);
    }
  }
  return 0;
}
