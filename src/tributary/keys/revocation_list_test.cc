#include "tributary/keys/revocation_list.h"

#include <atomic>
#include <thread>

#include "tributary/keys/testing_keys.h"
#include "tributary/keys/x509.h"

namespace tributary::inline keys {
namespace {

class RevocationListTest : public KeysFixture {
 protected:
  RevocationListOptions Options() const {
    return {.wall_clock = [this] { return std::chrono::seconds(now_.load()); }, .newest = newest_};
  }
  std::unique_ptr<RevocationList> Load() const {
    auto list = RevocationList::Load(path_, authority_, Options());
    EXPECT_TRUE(list.ok()) << list.status();
    return *std::move(list);
  }
  Status Refused() const { return RevocationList::Load(path_, authority_, Options()).status(); }

  std::atomic<std::time_t> now_ = kNow;
  std::filesystem::path newest_;
  const std::filesystem::path path_ = dir_ / "revoked.pem";
  const std::string authority_ = Text(dir_ / "ca.pem");
  const std::string pi3_ = Text(Issue(dir_, "pi-3") / "cert.pem");
  const std::string pi4_ = Text(Issue(dir_, "pi-4") / "cert.pem");
};

TEST_F(RevocationListTest, RefusesWhatWasRevokedAndNothingElse) {
  EXPECT_TRUE(Load()->Check(pi3_).ok());
  ASSERT_TRUE(Revoke(dir_, "pi-3", kNow).ok());
  const auto list = Load();
  EXPECT_EQ(list->Check(pi3_), InvalidArgument("the certificate of 'pi-3' has been revoked"));
  EXPECT_TRUE(list->Check(pi4_).ok());
  EXPECT_TRUE(list->Check(Text(dir_ / "coordinator" / "cert.pem")).ok());
}

TEST_F(RevocationListTest, SeesARevocationWhenRefreshed) {
  const auto list = Load();
  ASSERT_TRUE(Revoke(dir_, "pi-3", kNow).ok());
  EXPECT_TRUE(list->Check(pi3_).ok());
  ASSERT_TRUE(list->Refresh().ok());
  EXPECT_FALSE(list->Check(pi3_).ok());
  ASSERT_TRUE(Revoke(dir_, "pi-4", kNow).ok());
  ASSERT_TRUE(list->Refresh().ok());
  EXPECT_FALSE(list->Check(pi3_).ok());
  EXPECT_FALSE(list->Check(pi4_).ok());
}

TEST_F(RevocationListTest, AcceptsTheNewCertificateOfARevokedName) {
  ASSERT_TRUE(Revoke(dir_, "pi-3", kNow).ok());
  const std::string again = Text(Issue(dir_, "pi-3") / "cert.pem");
  const std::string renewed = Text(Issue(dir_, "pi-4", /*renew=*/true) / "cert.pem");
  const auto list = Load();
  EXPECT_FALSE(list->Check(pi3_).ok());
  EXPECT_TRUE(list->Check(again).ok());
  EXPECT_FALSE(list->Check(pi4_).ok());
  EXPECT_TRUE(list->Check(renewed).ok());
}

TEST_F(RevocationListTest, KnowsOnlyItsOwnAuthority) {
  const auto other = folder_ / "other";
  ASSERT_TRUE(InitAuthority(other, {.now = kNow}).ok());
  const std::string stranger = Text(Issue(other, "pi-3") / "cert.pem");
  ExpectRefused(Load()->Check(stranger), StatusCode::kInvalidArgument, "not signed by the authority");
  ExpectRefused(RevocationList::Load(other / "revoked.pem", authority_).status(),
                StatusCode::kInvalidArgument, "not signed by the authority");
  EXPECT_EQ(Load()->Check("nonsense").code(), StatusCode::kCorrupt);
  EXPECT_EQ(RevocationList::Load(path_, "nonsense").status().code(), StatusCode::kCorrupt);
  EXPECT_EQ(RevocationList::Load(dir_ / "none", authority_).status().code(), StatusCode::kNotFound);
}

TEST_F(RevocationListTest, IsNotTakenInByAForgery) {
  // All names and key identifiers are right; only the signature is by another key.
  const KeyPtr forger = *ParseKey(Text(dir_ / "devices" / "pi-4" / "key.pem"));
  const CertificatePtr certificate = *ParseCertificate(pi3_);
  X509_sign(certificate.get(), forger.get(), EVP_sha256());
  ExpectRefused(Load()->Check(*ToPem(*certificate)), StatusCode::kInvalidArgument,
                "not signed by the authority");

  const auto list = Load();
  const CrlPtr crl = std::move(ParseCrls(Text(path_))->front());
  X509_CRL_sign(crl.get(), forger.get(), EVP_sha256());
  ASSERT_TRUE(WriteFileAtomically(path_, *ToPem(*crl)).ok());
  ExpectRefused(list->Refresh(), StatusCode::kInvalidArgument, "not signed by the authority");
}

TEST_F(RevocationListTest, StaysInForceWhenTheFileIsBad) {
  Copy(path_, folder_ / "empty.pem");
  ASSERT_TRUE(Revoke(dir_, "pi-3", kNow).ok());
  Copy(path_, folder_ / "good.pem");
  const auto list = Load();

  std::filesystem::remove(path_);
  EXPECT_EQ(list->Refresh().code(), StatusCode::kNotFound);
  EXPECT_FALSE(list->Check(pi3_).ok());
  ASSERT_TRUE(WriteFileAtomically(path_, Text(folder_ / "good.pem").substr(0, 100)).ok());
  EXPECT_EQ(list->Refresh().code(), StatusCode::kCorrupt);
  EXPECT_FALSE(list->Check(pi3_).ok());
  Copy(folder_ / "empty.pem", path_);
  ExpectRefused(list->Refresh(), StatusCode::kInvalidArgument, "older revocation list (number 1)");
  EXPECT_FALSE(list->Check(pi3_).ok());
  Copy(folder_ / "good.pem", path_);
  EXPECT_TRUE(list->Refresh().ok());
  EXPECT_FALSE(list->Check(pi3_).ok());
}

TEST_F(RevocationListTest, IsRefusedOnceItHasExpired) {
  now_ = kNow + 90 * kDay;
  EXPECT_TRUE(Load()->Check(pi3_).ok());
  ++now_;
  ExpectRefused(Refused(), StatusCode::kInvalidArgument, "expired on 2027-04-15");
  ExpectRefused(Refused(), StatusCode::kInvalidArgument, "tributary keys renew-list");
  EXPECT_EQ(*RenewList(dir_, now_, std::chrono::days(7)), now_ + 7 * kDay);
  EXPECT_TRUE(Load()->Check(pi3_).ok());
  ASSERT_TRUE(Revoke(dir_, "pi-3", now_, std::chrono::days(1)).ok());
  EXPECT_FALSE(Load()->Check(pi3_).ok());
  now_ = now_ + 2 * kDay;
  ExpectRefused(Refused(), StatusCode::kInvalidArgument, "expired on");
}

TEST_F(RevocationListTest, AdmitsNobodyOnceTheListInForceHasExpired) {
  const auto list = Load();
  now_ = kNow + 76 * kDay - 1;
  EXPECT_EQ(list->Warning(), "");
  ++now_;
  EXPECT_NE(list->Warning().find("expires on 2027-04-15"), std::string::npos) << list->Warning();
  EXPECT_NE(list->Warning().find("tributary keys renew-list"), std::string::npos) << list->Warning();
  now_ = kNow + 90 * kDay + 1;
  EXPECT_TRUE(list->Refresh().ok());  // The file has not changed.
  ExpectRefused(list->Check(pi3_), StatusCode::kUnavailable, "expired on 2027-04-15");
  ASSERT_TRUE(RenewList(dir_, now_).ok());
  EXPECT_TRUE(list->Refresh().ok());
  EXPECT_TRUE(list->Check(pi3_).ok());
  EXPECT_EQ(list->Warning(), "");
}

TEST_F(RevocationListTest, EndsWithTheAuthorityAtTheLatest) {
  ASSERT_TRUE(RenewList(dir_, kNow + 3649 * kDay).ok());
  now_ = kNow + 3651 * kDay;
  ExpectRefused(Refused(), StatusCode::kInvalidArgument, "expired on");
  ExpectRefused(RenewList(dir_, kNow, std::chrono::days(0)).status(), StatusCode::kInvalidArgument,
                "a revocation list cannot be valid for 0 days; allowed: 1 to 36500");
}

TEST_F(RevocationListTest, IsNeverOlderThanTheNewestAcceptedOverRestarts) {
  newest_ = folder_ / "newest.pem";
  Copy(path_, folder_ / "empty.pem");
  ASSERT_TRUE(Revoke(dir_, "pi-3", kNow).ok());
  EXPECT_FALSE(Load()->Check(pi3_).ok());
  EXPECT_EQ(Mode(newest_), 0600U);
  Copy(folder_ / "empty.pem", path_);
  ExpectRefused(Refused(), StatusCode::kInvalidArgument, "older revocation list (number 1)");
  // A list of another authority is ignored.
  ASSERT_TRUE(InitAuthority(folder_ / "other", {.now = kNow}).ok());
  Copy(folder_ / "other" / "revoked.pem", newest_);
  EXPECT_TRUE(Load()->Check(pi3_).ok());
  ASSERT_TRUE(WriteFileAtomically(newest_, "nonsense").ok());
  ExpectRefused(Refused(), StatusCode::kCorrupt, "newest.pem");
}

TEST_F(RevocationListTest, IsReadAndRefreshedByManyThreads) {
  const auto list = Load();
  std::atomic<bool> revoked = false;
  std::atomic<int> failures = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      bool was_revoked = false;
      while (!was_revoked) {
        was_revoked = revoked;
        if (!list->Refresh().ok() || !list->Check(pi4_).ok()) ++failures;
        if (was_revoked && list->Check(pi3_).ok()) ++failures;
      }
    });
  }
  const Status status = Revoke(dir_, "pi-3", kNow);
  revoked = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(failures, 0);
}

}  // namespace
}  // namespace tributary::inline keys
