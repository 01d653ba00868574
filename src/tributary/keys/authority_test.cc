#include "tributary/keys/authority.h"

#include <openssl/x509v3.h>

#include <set>

#include "tributary/keys/issued.h"
#include "tributary/keys/testing_keys.h"
#include "tributary/keys/x509.h"

namespace tributary::inline keys {
namespace {

class AuthorityTest : public KeysFixture {
 protected:
  static CertificatePtr Certificate(const std::filesystem::path& path) {
    auto certificate = ParseCertificate(Text(path));
    EXPECT_TRUE(certificate.ok()) << certificate.status();
    return *std::move(certificate);
  }

  // What the other end of a connection would say: OpenSSL's own verification, with the strictest flags.
  static std::string Verdict(const std::filesystem::path& authority, const std::filesystem::path& certificate,
                             int purpose, const std::string& host, std::time_t now) {
    const CertificatePtr trusted = Certificate(authority);
    const CertificatePtr judged = Certificate(certificate);
    const std::unique_ptr<X509_STORE, FreedBy<X509_STORE_free>> store(X509_STORE_new());
    const std::unique_ptr<X509_STORE_CTX, FreedBy<X509_STORE_CTX_free>> context(X509_STORE_CTX_new());
    X509_STORE_add_cert(store.get(), trusted.get());
    X509_STORE_CTX_init(context.get(), store.get(), judged.get(), nullptr);
    X509_VERIFY_PARAM* settings = X509_STORE_CTX_get0_param(context.get());
    X509_VERIFY_PARAM_set_flags(settings, X509_V_FLAG_X509_STRICT | X509_V_FLAG_CHECK_SS_SIGNATURE);
    X509_VERIFY_PARAM_set_purpose(settings, purpose);
    X509_VERIFY_PARAM_set1_host(settings, host.c_str(), 0);
    X509_VERIFY_PARAM_set_time(settings, now);
    if (X509_verify_cert(context.get()) == 1) return "ok";
    return X509_verify_cert_error_string(X509_STORE_CTX_get_error(context.get()));
  }
};

TEST_F(AuthorityTest, MakesCertificatesThatOpenSslAcceptsOnBothEnds) {
  Issue(dir_, "pi-3");
  for (const char* bundle : {"coordinator", "devices/pi-3"}) {
    const std::string host = std::filesystem::path(bundle).filename().string() + ".tributary";
    for (const int purpose : {X509_PURPOSE_SSL_CLIENT, X509_PURPOSE_SSL_SERVER}) {
      for (const std::time_t now : {kNow - 300, kNow, kNow + 824 * kDay}) {
        EXPECT_EQ(Verdict(dir_ / "ca.pem", dir_ / bundle / "cert.pem", purpose, host, now), "ok") << bundle;
      }
    }
    EXPECT_EQ(Text(dir_ / bundle / "ca.pem"), Text(dir_ / "ca.pem"));
  }
}

TEST_F(AuthorityTest, MakesCertificatesThatOpenSslRefusesForAnythingElse) {
  const auto certificate = Issue(dir_, "pi-3") / "cert.pem";
  const auto verdict = [&](const std::filesystem::path& authority, const std::string& host, std::time_t now) {
    return Verdict(authority, certificate, X509_PURPOSE_SSL_CLIENT, host, now);
  };
  ASSERT_TRUE(InitAuthority(folder_ / "other", {.now = kNow}).ok());
  EXPECT_EQ(verdict(dir_ / "ca.pem", "coordinator.tributary", kNow), "hostname mismatch");
  EXPECT_EQ(verdict(dir_ / "ca.pem", "pi-3.tributary", kNow + 826 * kDay), "certificate has expired");
  EXPECT_EQ(verdict(dir_ / "ca.pem", "pi-3.tributary", kNow - kDay), "certificate is not yet valid");
  EXPECT_NE(verdict(folder_ / "other" / "ca.pem", "pi-3.tributary", kNow), "ok");
  EXPECT_NE(Verdict(dir_ / "ca.pem", certificate, X509_PURPOSE_SMIME_SIGN, "pi-3.tributary", kNow), "ok");
  // A party cannot sign another.
  EXPECT_EQ(X509_check_ca(Certificate(certificate).get()), 0);
  EXPECT_EQ(X509_get_pathlen(Certificate(dir_ / "ca.pem").get()), 0);
}

TEST_F(AuthorityTest, KeepsSecretsToTheirOwner) {
  Issue(dir_, "pi-3");
  int keys = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(dir_)) {
    const auto name = entry.path().filename();
    if (entry.is_directory()) {
      EXPECT_EQ(Mode(entry.path()), 0700U) << entry.path();
    } else if (name == "ca.key" || name == "key.pem") {
      EXPECT_EQ(Mode(entry.path()), 0600U) << entry.path();
      ++keys;
    } else {
      EXPECT_EQ(Text(entry.path()).find("PRIVATE"), std::string::npos) << entry.path();
    }
  }
  EXPECT_EQ(keys, 4);
  EXPECT_EQ(Mode(dir_), 0700U);
}

TEST_F(AuthorityTest, EncryptsItsKeyWithAPassphrase) {
  const auto say = [](const char* words) { return [words] { return StatusOr<std::string>(words); }; };
  const auto dir = folder_ / "sealed";
  ExpectRefused(InitAuthority(dir, {.now = kNow, .passphrase = say("too short")}),
                StatusCode::kInvalidArgument, "the passphrase has 9 characters; allowed: 12 and more");
  EXPECT_FALSE(std::filesystem::exists(dir));
  ASSERT_TRUE(InitAuthority(dir, {.now = kNow, .passphrase = say("correct horse battery")}).ok());
  EXPECT_TRUE(Text(dir / "ca.key").starts_with("-----BEGIN ENCRYPTED PRIVATE KEY-----"));
  EXPECT_EQ(Mode(dir / "ca.key"), 0600U);

  const auto issue = [&](const Passphrase& passphrase) {
    return IssueDevice(dir, "pi-3", {.now = kNow, .passphrase = passphrase}).status();
  };
  ExpectRefused(issue({}), StatusCode::kCorrupt, "ca.key: not a private key in PEM form without a password");
  ExpectRefused(issue(say("correct horse")), StatusCode::kInvalidArgument,
                "ca.key: the passphrase is not that of");
  ExpectRefused(issue([] { return StatusOr<std::string>(InvalidArgument("no terminal")); }),
                StatusCode::kInvalidArgument, "no terminal");
  EXPECT_TRUE(issue(say("correct horse battery")).ok());
  EXPECT_TRUE(
      LoadCredentials(dir / "devices" / "pi-3", kNow).ok());  // Only the authority's own key is encrypted.
  EXPECT_FALSE(Revoke(dir, "pi-3", kNow).ok());
  EXPECT_TRUE(Revoke(dir, "pi-3", kNow, kListValidity, say("correct horse battery")).ok());
  EXPECT_TRUE(RenewList(dir, kNow, kListValidity, say("correct horse battery")).ok());
  EXPECT_EQ(ListIssued(dir)->size(), 3U);  // Reading takes no key.
}

TEST_F(AuthorityTest, AsksForNoPassphraseWhereTheKeyIsNotEncrypted) {
  const Passphrase never = [] { return StatusOr<std::string>(InvalidArgument("asked")); };
  EXPECT_TRUE(IssueDevice(dir_, "pi-3", {.now = kNow, .passphrase = never}).ok());
}

TEST_F(AuthorityTest, NeverOverwritesAnAuthority) {
  const std::string before = Text(dir_ / "ca.key");
  ExpectRefused(InitAuthority(dir_, {.now = kNow}), StatusCode::kInvalidArgument,
                "holds an authority already");
  ExpectRefused(InitAuthority(dir_.string() + "/", {.now = kNow}), StatusCode::kInvalidArgument,
                "holds an authority");
  std::filesystem::create_directory(folder_ / "mine");
  ExpectRefused(InitAuthority(folder_ / "mine", {.now = kNow}), StatusCode::kInvalidArgument,
                "exists already");
  EXPECT_EQ(InitAuthority(folder_ / "no" / "keys", {.now = kNow}).code(), StatusCode::kNotFound);
  EXPECT_EQ(Text(dir_ / "ca.key"), before);
}

TEST_F(AuthorityTest, GivesOneValidCertificateToAName) {
  const auto bundle = Issue(dir_, "pi-3");
  EXPECT_EQ(bundle, dir_ / "devices" / "pi-3");
  const std::string first = Text(bundle / "cert.pem");
  ExpectRefused(IssueDevice(dir_, "pi-3", {.now = kNow}).status(), StatusCode::kInvalidArgument, "--renew");
  EXPECT_EQ(Text(bundle / "cert.pem"), first);

  Issue(dir_, "pi-3", /*renew=*/true);
  EXPECT_NE(Text(bundle / "cert.pem"), first);
  const auto issued = Issued();
  ASSERT_EQ(issued.size(), 4U);
  EXPECT_TRUE(issued[2].revoked);
  EXPECT_FALSE(issued[3].revoked);
  EXPECT_EQ(issued[3].name, "pi-3");
  EXPECT_EQ(issued[3].not_after, kNow + 825 * kDay);
}

TEST_F(AuthorityTest, FreesANameByRevocationAndByExpiry) {
  const std::string first = Text(Issue(dir_, "pi-3") / "cert.pem");
  ASSERT_TRUE(Revoke(dir_, "pi-3", kNow).ok());
  const std::string second = Text(Issue(dir_, "pi-3") / "cert.pem");
  EXPECT_NE(first, second);
  EXPECT_NE(second, Text(Issue(dir_, "pi-3", /*renew=*/false, kNow + 826 * kDay) / "cert.pem"));
}

TEST_F(AuthorityTest, RevokesEveryCertificateOfAName) {
  Issue(dir_, "pi-3");
  Issue(dir_, "pi-3", /*renew=*/false, kNow + 826 * kDay);
  Issue(dir_, "pi-4");
  ASSERT_TRUE(Revoke(dir_, "pi-3", kNow + 827 * kDay).ok());
  for (const IssuedCertificate& one : Issued()) EXPECT_EQ(one.revoked, one.name == "pi-3") << one.name;
  ExpectRefused(Revoke(dir_, "pi-3", kNow), StatusCode::kInvalidArgument, "revoked already");
  ExpectRefused(Revoke(dir_, "pi-33", kNow), StatusCode::kInvalidArgument, "did you mean 'pi-3'");
}

TEST_F(AuthorityTest, RenewsTheOtherPartiesButMakesNoDeviceOfThem) {
  EXPECT_FALSE(IssueDevice(dir_, "coordinator", {.now = kNow}).ok());
  EXPECT_EQ(Issue(dir_, "coordinator", /*renew=*/true), dir_ / "coordinator");
  EXPECT_TRUE(LoadCredentials(dir_ / "coordinator", kNow).ok());
  ExpectRefused(IssueDevice(dir_, "pi-9", {.now = kNow, .renew = true}).status(),
                StatusCode::kInvalidArgument, "unknown party 'pi-9'");
}

TEST_F(AuthorityTest, WritesNothingOutsideItsFolder) {
  for (const std::string_view name : {"../x", "..", "a/../../x", "/tmp/x", ""}) {
    for (const bool renew : {false, true}) {
      EXPECT_EQ(IssueDevice(dir_, name, {.now = kNow, .renew = renew}).status().code(),
                StatusCode::kInvalidArgument);
    }
    EXPECT_FALSE(Revoke(dir_, name, kNow).ok());
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
  EXPECT_TRUE(std::filesystem::is_empty(dir_ / "devices"));
}

TEST_F(AuthorityTest, BoundsTheTimeACertificateIsValid) {
  for (const int days : {-1, 0, 36501}) {
    ExpectRefused(IssueDevice(dir_, "pi-3", {.now = kNow, .validity = std::chrono::days(days)}).status(),
                  StatusCode::kInvalidArgument, "allowed: 1 to 36500");
    EXPECT_FALSE(
        InitAuthority(folder_ / "b", {.now = kNow, .authority_validity = std::chrono::days(days)}).ok());
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "b"));
  // No certificate outlives the authority.
  const std::time_t late = kNow + 3600 * kDay;
  Issue(dir_, "pi-3", /*renew=*/false, late);
  EXPECT_EQ(Issued().back().not_after, kNow + 3650 * kDay);
  ExpectRefused(IssueDevice(dir_, "pi-4", {.now = kNow + 3651 * kDay}).status(), StatusCode::kInvalidArgument,
                "the authority's certificate expired");
}

TEST_F(AuthorityTest, GivesSerialNumbersOf128RandomBits) {
  std::set<std::string> serials;
  for (const char* name : {"a", "b", "c", "d"}) Issue(dir_, name);
  for (const IssuedCertificate& one : Issued()) {
    EXPECT_GE(one.serial.size(), 28U);  // Fewer by chance once in 2^16.
    EXPECT_LE(one.serial.size(), 32U);
    serials.insert(one.serial);
  }
  EXPECT_EQ(serials.size(), 6U);
}

TEST_F(AuthorityTest, SaysWhatIsWrongWithItsFolder) {
  EXPECT_EQ(ListIssued(folder_).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(IssueDevice(folder_, "pi-3", {.now = kNow}).status().code(), StatusCode::kNotFound);
  ::chmod((dir_ / "ca.key").c_str(), 0640);
  ExpectRefused(IssueDevice(dir_, "pi-3", {.now = kNow}).status(), StatusCode::kInvalidArgument, "chmod 600");
  ::chmod((dir_ / "ca.key").c_str(), 0600);
  const std::string issued = Text(dir_ / "issued.txt");
  ASSERT_TRUE(WriteFileAtomically(dir_ / "issued.txt", issued + "12 pi-3 tomorrow\n").ok());
  ExpectRefused(ListIssued(dir_).status(), StatusCode::kCorrupt, "issued.txt: line 3");
  ASSERT_TRUE(WriteFileAtomically(dir_ / "issued.txt", issued).ok());

  ASSERT_TRUE(InitAuthority(folder_ / "other", {.now = kNow}).ok());
  Copy(folder_ / "other" / "revoked.pem", dir_ / "revoked.pem");
  ExpectRefused(ListIssued(dir_).status(), StatusCode::kCorrupt, "not signed by the authority");
  // A lost list is not replaced by an empty one, which would undo every revocation.
  std::filesystem::remove(dir_ / "revoked.pem");
  EXPECT_EQ(IssueDevice(dir_, "pi-3", {.now = kNow}).status().code(), StatusCode::kNotFound);
  Copy(folder_ / "other" / "ca.key", dir_ / "ca.key");
  ExpectRefused(Revoke(dir_, "operator", kNow), StatusCode::kInvalidArgument, "is not the key of");
}

TEST(IssuedText, ReadsWhatItWrites) {
  const std::vector<IssuedCertificate> issued = {
      {"pi-3", "0F", 1'800'000'000},
      {.name = "coordinator", .serial = "AB12", .not_after = 4'000'000'000, .role = Role::kCoordinator},
      {.name = "alice", .serial = "CD", .not_after = 4'000'000'000, .role = Role::kObserver}};
  EXPECT_EQ(FormatIssued(issued),
            "0F pi-3 2027-01-15T08:00:00Z\nAB12 coordinator 2096-10-02T07:06:40Z\n"
            "CD alice 2096-10-02T07:06:40Z observer\n");
  const auto read = ParseIssued(FormatIssued(issued));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, issued);
  for (const char* bad :
       {"\n", "0F pi-3\n", "0G pi-3 2027-01-15T08:00:00Z", "0F ../x 2027-01-15T08:00:00Z",
        "0F pi-3 2027-02-31T08:00:00Z", "0F pi-3 2027-01-15T08:00:00Z x", "0F pi-3 2027-01-15T08:00:00Z ",
        "0F pi-3 2027-01-15T08:00:00Z observer x", " pi-3 2027-01-15T08:00:00Z"}) {
    EXPECT_EQ(ParseIssued(bad).status().code(), StatusCode::kCorrupt) << bad;
  }
}

}  // namespace
}  // namespace tributary::inline keys
