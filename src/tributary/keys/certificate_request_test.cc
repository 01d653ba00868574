#include "tributary/keys/certificate_request.h"

#include <openssl/ec.h>
#include <openssl/rsa.h>

#include "tributary/keys/testing_keys.h"

namespace tributary::inline keys {
namespace {

class CertificateRequestTest : public KeysFixture {
 protected:
  // On the device's machine.
  std::filesystem::path Request(std::string_view name) const {
    const auto fingerprint = RequestCertificate(folder_ / name, name);
    EXPECT_TRUE(fingerprint.ok()) << fingerprint.status();
    return folder_ / name / "request.csr";
  }
  Status Refusal(const X509_REQ& request) const {
    EXPECT_TRUE(WriteFileAtomically(folder_ / "bad.pem", *ToPem(request)).ok());
    return SignRequest(dir_, folder_ / "bad.pem", {.now = kNow}).status();
  }
};

TEST_F(CertificateRequestTest, GivesACertificateToAKeyThatStaysWhereItIs) {
  const auto fingerprint = RequestCertificate(folder_ / "pi-3", "pi-3");
  ASSERT_TRUE(fingerprint.ok()) << fingerprint.status();
  EXPECT_EQ(Mode(folder_ / "pi-3"), 0700U);
  EXPECT_EQ(Mode(folder_ / "pi-3" / "key.pem"), 0600U);
  EXPECT_EQ(Text(folder_ / "pi-3" / "request.csr").find("PRIVATE"), std::string::npos);

  const auto made = SignRequest(dir_, folder_ / "pi-3" / "request.csr", {.now = kNow});
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(made->name, "pi-3");
  EXPECT_EQ(made->fingerprint, *fingerprint);
  EXPECT_EQ(made->fingerprint.size(), 64U);
  EXPECT_EQ(made->bundle, dir_ / "devices" / "pi-3");
  EXPECT_FALSE(std::filesystem::exists(made->bundle / "key.pem"));
  EXPECT_EQ(Issued().back().name, "pi-3");
  for (const char* file : {"ca.pem", "cert.pem"}) Copy(made->bundle / file, folder_ / "pi-3" / file);
  const auto credentials = LoadCredentials(folder_ / "pi-3", kNow);
  ASSERT_TRUE(credentials.ok()) << credentials.status();
  EXPECT_EQ(credentials->name, "pi-3");
}

TEST_F(CertificateRequestTest, IsSignedByTheRulesForDevices) {
  const auto request = Request("pi-3");
  ASSERT_TRUE(SignRequest(dir_, request, {.now = kNow}).ok());
  ExpectRefused(SignRequest(dir_, request, {.now = kNow}).status(), StatusCode::kInvalidArgument, "--renew");
  ASSERT_TRUE(SignRequest(dir_, request, {.now = kNow, .renew = true}).ok());
  EXPECT_TRUE(Issued()[2].revoked);
  ExpectRefused(SignRequest(dir_, Request("pi-4"), {.now = kNow, .renew = true}).status(),
                StatusCode::kInvalidArgument, "unknown party 'pi-4'");
  const auto coordinator = Request("coordinator");
  ExpectRefused(SignRequest(dir_, coordinator, {.now = kNow}).status(), StatusCode::kInvalidArgument,
                "the name is reserved");
  EXPECT_TRUE(SignRequest(dir_, coordinator, {.now = kNow, .renew = true}).ok());
}

TEST_F(CertificateRequestTest, IsMadeInANewFolderForANameThatCanBe) {
  (void)Request("pi-3");
  const std::string key = Text(folder_ / "pi-3" / "key.pem");
  ExpectRefused(RequestCertificate(folder_ / "pi-3", "pi-3").status(), StatusCode::kInvalidArgument,
                "exists");
  EXPECT_EQ(Text(folder_ / "pi-3" / "key.pem"), key);
  for (const char* name : {"", "../x", "A", "a b"})
    ExpectRefused(RequestCertificate(folder_ / "new", name).status(), StatusCode::kInvalidArgument,
                  "allowed");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "new"));
}

TEST_F(CertificateRequestTest, IsRefusedWithoutProofThatItsSenderHasTheKey) {
  const KeyPtr mine = *MakeKey(), other = *MakeKey();
  const RequestPtr request = *MakeRequest("pi-3", *mine);
  X509_REQ_set_pubkey(request.get(), other.get());
  ExpectRefused(Refusal(*request), StatusCode::kInvalidArgument, "not signed by its own key");
  X509_REQ_sign(request.get(), mine.get(), EVP_sha256());
  ExpectRefused(Refusal(*request), StatusCode::kInvalidArgument, "not signed by its own key");
  EXPECT_EQ(Issued().size(), 2U);
}

TEST_F(CertificateRequestTest, IsRefusedForOtherKeysAndNames) {
  for (const KeyPtr& key : {KeyPtr(EVP_RSA_gen(2048)), KeyPtr(EVP_EC_gen("P-384"))})
    ExpectRefused(Refusal(**MakeRequest("pi-3", *key)), StatusCode::kInvalidArgument, "not ECDSA P-256");
  const KeyPtr key = *MakeKey();
  for (const char* name : {"../x", "Pi", "a.b", "pi-3.tributary"})
    ExpectRefused(Refusal(**MakeRequest(name, *key)), StatusCode::kInvalidArgument, "cannot be called");
  const RequestPtr two = *MakeRequest("pi-3", *key);
  const auto* second = reinterpret_cast<const unsigned char*>("pi-4");
  X509_NAME_add_entry_by_NID(X509_REQ_get_subject_name(two.get()), NID_commonName, MBSTRING_UTF8, second, -1,
                             -1, 0);
  X509_REQ_sign(two.get(), key.get(), EVP_sha256());
  ExpectRefused(Refusal(*two), StatusCode::kInvalidArgument, "does not have one common name");
  ASSERT_TRUE(WriteFileAtomically(folder_ / "bad.pem", "nonsense").ok());
  ExpectRefused(SignRequest(dir_, folder_ / "bad.pem", {.now = kNow}).status(), StatusCode::kCorrupt,
                "bad.pem: not a certificate request");
  EXPECT_EQ(Issued().size(), 2U);
}

}  // namespace
}  // namespace tributary::inline keys
