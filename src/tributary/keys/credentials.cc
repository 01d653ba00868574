#include "tributary/keys/credentials.h"

#include <openssl/err.h>
#include <openssl/x509_vfy.h>

#include <algorithm>
#include <span>

#include "tributary/base/file.h"
#include "tributary/keys/issued.h"
#include "tributary/keys/private_files.h"
#include "tributary/keys/x509.h"

namespace tributary::inline keys {
namespace {

std::string WhoseIs(const std::string& name) { return "the certificate of '" + name + "'"; }

std::string RenewalOf(const Party& party) {
  return "make a new one with 'tributary keys " + std::string(NameOf(party.role)) + " " + party.name +
         " --renew'";
}

Status Expired(const std::string& whose, std::time_t end, const std::string& remedy) {
  return InvalidArgument(whose + " expired on " + FormatUtc(end) + "; " + remedy);
}

Status Explain(int error, X509& certificate, const std::string& whose, const std::string& remedy) {
  if (error == X509_V_ERR_CERT_HAS_EXPIRED) {
    TRIBUTARY_ASSIGN_OR_RETURN(const std::time_t end, ToTime(*X509_get0_notAfter(&certificate)));
    return Expired(whose, end, remedy);
  }
  if (error == X509_V_ERR_CERT_NOT_YET_VALID) {
    TRIBUTARY_ASSIGN_OR_RETURN(const std::time_t start, ToTime(*X509_get0_notBefore(&certificate)));
    return InvalidArgument(whose + " is valid from " + FormatUtc(start) +
                           " on; is this machine's clock right?");
  }
  return InvalidArgument(whose + " is not trusted: " + X509_verify_cert_error_string(error));
}

// Verifies the certificate as the other end of a connection will.
Status Verify(X509& certificate, std::span<const CertificatePtr> authorities, const Party& party,
              std::time_t now) {
  const std::string whose = WhoseIs(party.name);
  const auto signer = std::ranges::find_if(
      authorities, [&](const auto& authority) { return SignedBy(certificate, *authority); });
  if (signer == authorities.end())
    return InvalidArgument(whose + " was not signed by the authority in ca.pem");
  X509& authority = **signer;
  const std::unique_ptr<X509_STORE, FreedBy<X509_STORE_free>> trusted(X509_STORE_new());
  const std::unique_ptr<X509_STORE_CTX, FreedBy<X509_STORE_CTX_free>> context(X509_STORE_CTX_new());
  if (!trusted || !context || X509_STORE_add_cert(trusted.get(), &authority) != 1 ||
      X509_STORE_CTX_init(context.get(), trusted.get(), &certificate, nullptr) != 1) {
    return OpenSslError("cannot verify a certificate");
  }
  X509_VERIFY_PARAM_set_time(X509_STORE_CTX_get0_param(context.get()), now);
  const bool verified = X509_verify_cert(context.get()) == 1;
  ERR_clear_error();
  if (verified) return OkStatus();
  const int error = X509_STORE_CTX_get_error(context.get());
  if (X509_STORE_CTX_get_error_depth(context.get()) > 0) {
    return Explain(error, authority, "the authority's certificate",
                   "make a new authority with 'tributary keys init'");
  }
  return Explain(error, certificate, whose, RenewalOf(party));
}

}  // namespace

StatusOr<Credentials> LoadCredentials(const std::filesystem::path& bundle, std::time_t now) {
  Credentials credentials{.folder = bundle};
  TRIBUTARY_ASSIGN_OR_RETURN(credentials.authority_pem, ReadText(bundle / "ca.pem"));
  TRIBUTARY_ASSIGN_OR_RETURN(credentials.certificate_pem, ReadText(bundle / "cert.pem"));
  TRIBUTARY_ASSIGN_OR_RETURN(credentials.key_pem, ReadSecret(bundle / "key.pem"));
  const auto in = [&](const char* file) { return (bundle / file).string(); };

  TRIBUTARY_ASSIGN_OR_RETURN(const auto authorities,
                             ParseCertificates(credentials.authority_pem).WithContext(in("ca.pem")));
  TRIBUTARY_ASSIGN_OR_RETURN(const CertificatePtr certificate,
                             ParseCertificate(credentials.certificate_pem).WithContext(in("cert.pem")));
  TRIBUTARY_ASSIGN_OR_RETURN(const KeyPtr key, ParseKey(credentials.key_pem).WithContext(in("key.pem")));
  TRIBUTARY_ASSIGN_OR_RETURN(const Party party, PartyOf(*certificate).WithContext(in("cert.pem")));
  credentials.name = party.name;
  credentials.role = party.role;

  const bool fits = X509_check_private_key(certificate.get(), key.get()) == 1;
  ERR_clear_error();
  if (!fits) return InvalidArgument(in("key.pem") + " is not the key of the certificate beside it");
  TRIBUTARY_RETURN_IF_ERROR(Verify(*certificate, authorities, party, now).WithContext(in("cert.pem")));
  return credentials;
}

StatusOr<Party> PartyInCertificate(std::string_view certificate_pem) {
  TRIBUTARY_ASSIGN_OR_RETURN(const CertificatePtr certificate, ParseCertificate(certificate_pem));
  return PartyOf(*certificate);
}

Status CheckNotExpired(std::string_view certificate_pem, std::time_t now) {
  TRIBUTARY_ASSIGN_OR_RETURN(const CertificatePtr certificate, ParseCertificate(certificate_pem));
  TRIBUTARY_ASSIGN_OR_RETURN(const std::time_t end, ToTime(*X509_get0_notAfter(certificate.get())));
  if (now <= end) return OkStatus();
  TRIBUTARY_ASSIGN_OR_RETURN(const Party party, PartyOf(*certificate));
  return Expired(WhoseIs(party.name), end, RenewalOf(party));
}

StatusOr<std::string> SerialInCertificate(std::string_view certificate_pem) {
  TRIBUTARY_ASSIGN_OR_RETURN(const CertificatePtr certificate, ParseCertificate(certificate_pem));
  return SerialText(*X509_get0_serialNumber(certificate.get()));
}

}  // namespace tributary::inline keys
