#include "tributary/keys/credentials.h"

#include <openssl/x509v3.h>

#include <algorithm>

#include "tributary/keys/testing_keys.h"
#include "tributary/keys/x509.h"

namespace tributary::inline keys {
namespace {

class CredentialsTest : public KeysFixture {
 protected:
  // The bundle's certificate with other alternative names, signed by the authority.
  std::string MadeOutTo(const char* names) const {
    const CertificatePtr certificate = *ParseCertificate(Text(bundle_ / "cert.pem"));
    const KeyPtr key = *ParseKey(Text(dir_ / "ca.key"));
    const auto drop = [](X509_EXTENSION* extension) { X509_EXTENSION_free(extension); };
    drop(
        X509_delete_ext(certificate.get(), X509_get_ext_by_NID(certificate.get(), NID_subject_alt_name, -1)));
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, names);
    X509_add_ext(certificate.get(), extension, -1);
    drop(extension);
    X509_sign(certificate.get(), key.get(), EVP_sha256());
    return *ToPem(*certificate);
  }

  const std::filesystem::path bundle_ = Issue(dir_, "pi-3");
};

TEST_F(CredentialsTest, AreReadFromABundle) {
  const auto credentials = LoadCredentials(bundle_, kNow);
  ASSERT_TRUE(credentials.ok()) << credentials.status();
  EXPECT_EQ(credentials->name, "pi-3");
  EXPECT_EQ(credentials->authority_pem, Text(dir_ / "ca.pem"));
  EXPECT_EQ(credentials->certificate_pem, Text(bundle_ / "cert.pem"));
  EXPECT_EQ(credentials->key_pem, Text(bundle_ / "key.pem"));
  EXPECT_EQ(PartyInCertificate(credentials->certificate_pem)->name, "pi-3");
  EXPECT_EQ(LoadCredentials(dir_ / "coordinator", kNow)->name, "coordinator");
}

TEST_F(CredentialsTest, TakeTheNameFromTheCertificate) {
  std::filesystem::rename(bundle_, folder_ / "coordinator");
  EXPECT_EQ(LoadCredentials(folder_ / "coordinator", kNow)->name, "pi-3");
}

TEST_F(CredentialsTest, MustBeThere) {
  EXPECT_EQ(LoadCredentials(folder_ / "none", kNow).status().code(), StatusCode::kNotFound);
  for (const char* file : {"ca.pem", "cert.pem", "key.pem"}) {
    std::filesystem::rename(bundle_ / file, folder_ / file);
    ExpectRefused(LoadCredentials(bundle_, kNow).status(), StatusCode::kNotFound, file);
    std::filesystem::rename(folder_ / file, bundle_ / file);
  }
}

TEST_F(CredentialsTest, AreRefusedWhenOthersCanReadTheKey) {
  for (const mode_t mode : {0644U, 0640U, 0604U, 0620U, 0601U}) {
    ::chmod((bundle_ / "key.pem").c_str(), mode);
    ExpectRefused(LoadCredentials(bundle_, kNow).status(), StatusCode::kInvalidArgument,
                  "chmod 600 " + (bundle_ / "key.pem").string());
  }
  ::chmod((bundle_ / "key.pem").c_str(), 0400);
  EXPECT_TRUE(LoadCredentials(bundle_, kNow).ok());
}

TEST_F(CredentialsTest, AreRefusedOutsideTheirTime) {
  EXPECT_TRUE(LoadCredentials(bundle_, kNow - 300).ok());  // a clock that is a little behind
  ExpectRefused(LoadCredentials(bundle_, kNow - kDay).status(), StatusCode::kInvalidArgument,
                "machine's clock");
  EXPECT_TRUE(LoadCredentials(bundle_, kNow + 825 * kDay - 1).ok());
  ExpectRefused(LoadCredentials(bundle_, kNow + 825 * kDay + 1).status(), StatusCode::kInvalidArgument,
                "the certificate of 'pi-3' expired on 2029-04-19T08:00:00Z; make a new one");
}

TEST_F(CredentialsTest, AreRefusedWhenTheyDoNotBelongTogether) {
  const auto other = Issue(dir_, "pi-4");
  Copy(other / "key.pem", bundle_ / "key.pem");
  ExpectRefused(LoadCredentials(bundle_, kNow).status(), StatusCode::kInvalidArgument, "is not the key of");

  ASSERT_TRUE(InitAuthority(folder_ / "other", {.now = kNow}).ok());
  Copy(folder_ / "other" / "ca.pem", other / "ca.pem");
  ExpectRefused(LoadCredentials(other, kNow).status(), StatusCode::kInvalidArgument,
                "the certificate of 'pi-4' was not signed by the authority in ca.pem");
}

TEST_F(CredentialsTest, NameOneParty) {
  EXPECT_EQ(PartyInCertificate(MadeOutTo("DNS:pi-4.tributary"))->name, "pi-4");
  for (const char* names :
       {"DNS:pi-3.tributary,DNS:coordinator.tributary", "DNS:coordinator.tributary,IP:127.0.0.1",
        "DNS:*.tributary", "DNS:pi-3.example.com", "email:pi-3.tributary", "URI:pi-3.tributary"}) {
    const std::string pem = MadeOutTo(names);
    ExpectRefused(PartyInCertificate(pem).status(), StatusCode::kInvalidArgument, "not made out to a party");
    ASSERT_TRUE(WriteFileAtomically(bundle_ / "cert.pem", pem).ok());
    EXPECT_FALSE(LoadCredentials(bundle_, kNow).ok()) << names;
  }
}

TEST_F(CredentialsTest, HaveTheSerialNumberThatTheAuthorityHasIssued) {
  const auto issued = ListIssued(dir_);
  ASSERT_TRUE(issued.ok()) << issued.status();
  const auto serial = SerialInCertificate(Text(bundle_ / "cert.pem"));
  ASSERT_TRUE(serial.ok()) << serial.status();
  const auto found = std::ranges::find(*issued, *serial, &IssuedCertificate::serial);
  ASSERT_NE(found, issued->end());
  EXPECT_EQ(found->name, PartyInCertificate(Text(bundle_ / "cert.pem"))->name);
  EXPECT_FALSE(SerialInCertificate("no certificate").ok());
}

TEST_F(CredentialsTest, ExpireAtTheSecondThatTheCertificateSays) {
  const std::string certificate = Text(bundle_ / "cert.pem");
  const std::time_t end = ListIssued(dir_)->back().not_after;
  EXPECT_TRUE(CheckNotExpired(certificate, end).ok());
  EXPECT_EQ(CheckNotExpired(certificate, end + 1),
            InvalidArgument("the certificate of 'pi-3' expired on " + FormatUtc(end) +
                            "; make a new one with 'tributary keys device pi-3 --renew'"));
  EXPECT_EQ(CheckNotExpired("nonsense", end).code(), StatusCode::kCorrupt);
}

TEST_F(CredentialsTest, AreRefusedWhenTheyAreSomethingElse) {
  // The authority's own certificate names no party; a chain would show more than was checked.
  const std::string authority = Text(dir_ / "ca.pem");
  const struct {
    const char* file;
    std::string text;
    const char* words;
  } cases[] = {
      {"cert.pem", authority, "not made out to a party"},
      {"cert.pem", "", "not a certificate"},
      {"cert.pem", Text(bundle_ / "key.pem"), "not a certificate"},
      {"cert.pem", Text(bundle_ / "cert.pem") + authority, "more than one certificate"},
      {"ca.pem", authority + authority + authority, "more than two certificates"},
      {"ca.pem", authority.substr(0, authority.size() / 2), "not a certificate"},
      {"key.pem", authority, "not a private key"},
      {"key.pem",
       "-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: "
       "AES-128-CBC,00112233445566778899AABBCCDDEEFF"
       "\n\nAAAAAAAAAAAAAAAAAAAAAA==\n-----END EC PRIVATE KEY-----\n",
       "without a password"},
  };
  for (const auto& one : cases) {
    const std::string before = Text(bundle_ / one.file);
    ASSERT_TRUE(WritePrivateFileAtomically(bundle_ / one.file, one.text).ok());
    const Status status = LoadCredentials(bundle_, kNow).status();
    EXPECT_NE(status.message().find(one.words), std::string::npos) << status;
    EXPECT_NE(status.message().find(one.file), std::string::npos) << status;
    ASSERT_TRUE(WritePrivateFileAtomically(bundle_ / one.file, before).ok());
  }
  EXPECT_TRUE(LoadCredentials(bundle_, kNow).ok());
}

}  // namespace
}  // namespace tributary::inline keys
