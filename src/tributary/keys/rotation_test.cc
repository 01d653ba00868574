// An authority that is replaced while its fleet runs.

#include <algorithm>

#include "tributary/keys/live_credentials.h"
#include "tributary/keys/revocation_list.h"
#include "tributary/keys/testing_keys.h"
#include "tributary/keys/x509.h"

namespace tributary::inline keys {
namespace {

class RotationTest : public KeysFixture {
 protected:
  void Rotate() {
    const Status status = RotateAuthority(dir_, {.now = kNow});
    ASSERT_TRUE(status.ok()) << status;
  }
  std::unique_ptr<RevocationList> Load(const std::filesystem::path& ca) const {
    auto list = RevocationList::Load(dir_ / "revoked.pem", Text(ca),
                                     {.wall_clock = [] { return std::chrono::seconds(kNow); }});
    EXPECT_TRUE(list.ok()) << list.status();
    return list.ok() ? *std::move(list) : nullptr;
  }
  std::size_t Authorities(const std::filesystem::path& bundle) const {
    return ParseCertificates(Text(bundle / "ca.pem"))->size();
  }

  const std::filesystem::path pi3_ = Issue(dir_, "pi-3");
  const std::filesystem::path alice_ =
      IssueDevice(dir_, "alice", {.now = kNow, .role = Role::kObserver}).value();
};

TEST_F(RotationTest, TrustsBothAuthoritiesUntilTheOldOneIsRetired) {
  const std::string old_authority = Text(dir_ / "ca.pem"), old_certificate = Text(pi3_ / "cert.pem");
  Rotate();
  for (const auto& bundle : {dir_, pi3_, alice_, dir_ / "coordinator", dir_ / "operator"})
    EXPECT_EQ(Authorities(bundle), 2U) << bundle;
  EXPECT_EQ(Text(pi3_ / "cert.pem"), old_certificate);  // Nothing else has changed.
  EXPECT_TRUE(LoadCredentials(pi3_, kNow).ok());
  EXPECT_TRUE(Load(dir_ / "ca.pem")->Check(old_certificate).ok());

  Issue(dir_, "pi-3", /*renew=*/true);
  const std::string new_certificate = Text(pi3_ / "cert.pem");
  EXPECT_TRUE(LoadCredentials(pi3_, kNow).ok());
  const auto both = Load(dir_ / "ca.pem");
  // The renewed certificate is of the new authority, and the old one goes on until it is retired.
  EXPECT_TRUE(both->Check(old_certificate).ok());
  EXPECT_TRUE(both->Check(new_certificate).ok());
  ASSERT_TRUE(both->Trust(old_authority).ok());
  EXPECT_TRUE(both->Check(old_certificate).ok());
  ExpectRefused(both->Check(new_certificate), StatusCode::kInvalidArgument, "not signed by the authority");

  ExpectRefused(RetireAuthority(dir_, kNow), StatusCode::kInvalidArgument,
                "certificates of the previous authority only: alice, coordinator, operator");
  ASSERT_TRUE(Revoke(dir_, "alice", kNow).ok());
  for (const char* name : {"coordinator", "operator"}) Issue(dir_, name, /*renew=*/true);
  const Status retired = RetireAuthority(dir_, kNow);
  ASSERT_TRUE(retired.ok()) << retired;
  for (const auto& bundle : {dir_, pi3_, dir_ / "coordinator", dir_ / "operator"}) {
    EXPECT_EQ(Authorities(bundle), 1U) << bundle;
    if (bundle == dir_) continue;
    EXPECT_TRUE(LoadCredentials(bundle, kNow).ok()) << bundle;
  }
  EXPECT_FALSE(std::filesystem::exists(dir_ / "old"));
  const auto one = Load(dir_ / "ca.pem");
  EXPECT_TRUE(one->Check(new_certificate).ok());
  ExpectRefused(one->Check(old_certificate), StatusCode::kInvalidArgument, "not signed by the authority");
  for (const IssuedCertificate& issued : Issued()) EXPECT_FALSE(issued.revoked) << issued.name;
  ExpectRefused(RetireAuthority(dir_, kNow), StatusCode::kInvalidArgument, "has no previous authority");
}

TEST_F(RotationTest, RevokesCertificatesOfBothAuthorities) {
  const std::string old_certificate = Text(pi3_ / "cert.pem");
  Rotate();
  Issue(dir_, "pi-3", /*renew=*/true);
  const std::string first = Text(pi3_ / "cert.pem");
  Issue(dir_, "pi-3", /*renew=*/true);  // Within an authority, renewal revokes.
  EXPECT_FALSE(Load(dir_ / "ca.pem")->Check(first).ok());
  EXPECT_TRUE(Load(dir_ / "ca.pem")->Check(old_certificate).ok());
  ASSERT_TRUE(Revoke(dir_, "pi-3", kNow).ok());
  const auto list = Load(dir_ / "ca.pem");
  for (const std::string& one : {old_certificate, first, Text(pi3_ / "cert.pem")})
    EXPECT_EQ(list->Check(one).message(), "the certificate of 'pi-3' has been revoked");
  for (const IssuedCertificate& one : Issued()) EXPECT_EQ(one.revoked, one.name == "pi-3") << one.name;
}

TEST_F(RotationTest, NeedsAListOfEachAuthority) {
  Copy(dir_ / "revoked.pem", folder_ / "one.pem");
  Copy(dir_ / "ca.pem", folder_ / "one-ca.pem");
  Rotate();
  Issue(dir_, "pi-3", /*renew=*/true);
  const auto list =
      Load(folder_ / "one-ca.pem");  // A list of an authority that is not trusted yet is ignored.
  const auto missing = RevocationList::Load(folder_ / "one.pem", Text(dir_ / "ca.pem"));
  ExpectRefused(missing.status(), StatusCode::kInvalidArgument, "it has no list of 'Tributary authority ");
  // While the list of the new authority has not come, its certificates are refused, and the others are not.
  Copy(dir_ / "revoked.pem", folder_ / "two.pem");
  Copy(folder_ / "one.pem", dir_ / "revoked.pem");
  ASSERT_TRUE(list->Trust(Text(dir_ / "ca.pem")).ok());
  EXPECT_FALSE(list->Refresh().ok());
  EXPECT_TRUE(list->Check(Text(alice_ / "cert.pem")).ok());
  ExpectRefused(list->Check(Text(pi3_ / "cert.pem")), StatusCode::kUnavailable,
                "there is no revocation list yet");
  Copy(folder_ / "two.pem", dir_ / "revoked.pem");
  EXPECT_TRUE(list->Refresh().ok());
  EXPECT_TRUE(list->Check(Text(pi3_ / "cert.pem")).ok());
}

TEST_F(RotationTest, KeepsThePassphraseOfTheKey) {
  const Passphrase passphrase = [] { return StatusOr<std::string>("correct horse battery"); };
  const auto dir = folder_ / "sealed";
  ASSERT_TRUE(InitAuthority(dir, {.now = kNow, .passphrase = passphrase}).ok());
  EXPECT_FALSE(RotateAuthority(dir, {.now = kNow}).ok());
  ASSERT_TRUE(RotateAuthority(dir, {.now = kNow, .passphrase = passphrase}).ok());
  EXPECT_TRUE(Text(dir / "ca.key").starts_with("-----BEGIN ENCRYPTED PRIVATE KEY-----"));
  EXPECT_EQ(Mode(dir / "old"), 0700U);
  EXPECT_EQ(Mode(dir / "old" / "ca.key"), 0600U);
  ExpectRefused(RotateAuthority(dir, {.now = kNow, .passphrase = passphrase}), StatusCode::kInvalidArgument,
                "has a previous authority already");
  for (const char* name : {"coordinator", "operator"})
    EXPECT_TRUE(IssueDevice(dir, name, {.now = kNow, .renew = true, .passphrase = passphrase}).ok());
  EXPECT_TRUE(RetireAuthority(dir, kNow, kListValidity, passphrase).ok());
}

class LiveCredentialsTest : public RotationTest {};

TEST_F(LiveCredentialsTest, FollowTheirFiles) {
  LiveCredentials live(*LoadCredentials(pi3_, kNow));
  // Reading needs a valid certificate by the system's clock: this one is made for it.
  const auto dir = folder_ / "today";
  ASSERT_TRUE(InitAuthority(dir, {.now = std::time(nullptr)}).ok());
  const auto bundle = IssueDevice(dir, "pi-3", {.now = std::time(nullptr)}).value();
  LiveCredentials today(*LoadCredentials(bundle));
  EXPECT_TRUE(today.Refresh().ok());
  EXPECT_EQ(today.version(), 0U);
  ASSERT_TRUE(RotateAuthority(dir, {.now = std::time(nullptr)}).ok());
  EXPECT_TRUE(today.Refresh().ok());
  EXPECT_EQ(today.version(), 1U);
  EXPECT_EQ(today.Get().authority_pem, Text(dir / "ca.pem"));

  // A certificate whose key has not come yet.
  std::filesystem::copy(bundle, folder_ / "before");
  ASSERT_TRUE(IssueDevice(dir, "pi-3", {.now = std::time(nullptr), .renew = true}).ok());
  const std::string key = Text(bundle / "key.pem");
  Copy(folder_ / "before" / "key.pem", bundle / "key.pem");
  ExpectRefused(today.Refresh(), StatusCode::kInvalidArgument, "is not the key of");
  EXPECT_EQ(today.version(), 1U);
  ASSERT_TRUE(WritePrivateFileAtomically(bundle / "key.pem", key).ok());
  EXPECT_TRUE(today.Refresh().ok());
  EXPECT_EQ(today.Get().key_pem, key);

  // The keys of somebody else.
  const auto other = IssueDevice(dir, "pi-4", {.now = std::time(nullptr)}).value();
  for (const char* file : {"cert.pem", "key.pem"}) Copy(other / file, bundle / file);
  ExpectRefused(today.Refresh(), StatusCode::kInvalidArgument, "now holds the keys of 'pi-4', not of 'pi-3'");
  EXPECT_EQ(today.Get().name, "pi-3");
}

TEST_F(LiveCredentialsTest, WithoutAFolderStay) {
  Credentials fixed = *LoadCredentials(pi3_, kNow);
  fixed.folder.clear();
  LiveCredentials live(fixed);
  Rotate();
  EXPECT_TRUE(live.Refresh().ok());
  EXPECT_EQ(live.version(), 0U);
}

class ReceivedListTest : public RotationTest {
 protected:
  std::unique_ptr<RevocationList> Open() const {
    auto list = RevocationList::Receive(
        Text(dir_ / "ca.pem"),
        {.wall_clock = [this] { return std::chrono::seconds(now_); }, .newest = folder_ / "state.pem"});
    EXPECT_TRUE(list.ok()) << list.status();
    return *std::move(list);
  }
  std::string Lists() const { return Text(dir_ / "revoked.pem"); }

  std::time_t now_ = kNow;
  const std::string coordinator_ = Text(dir_ / "coordinator" / "cert.pem");
};

TEST_F(ReceivedListTest, IsNeededBeforeAnybodyIsTrusted) {
  const auto list = Open();
  ExpectRefused(list->Check(coordinator_), StatusCode::kUnavailable, "there is no revocation list yet");
  ASSERT_TRUE(list->Accept(Lists()).ok());
  EXPECT_TRUE(list->Check(coordinator_).ok());
  EXPECT_EQ(list->Text(), Lists());
  EXPECT_TRUE(list->Refresh().ok());
}

TEST_F(ReceivedListTest, RefusesARevokedCoordinatorAlsoAfterARestart) {
  const std::string before = Lists();
  ASSERT_TRUE(Revoke(dir_, "coordinator", kNow).ok());
  ASSERT_TRUE(Open()->Accept(Lists()).ok());
  const auto list = Open();
  EXPECT_EQ(list->Check(coordinator_).message(), "the certificate of 'coordinator' has been revoked");
  // Who has the revoked key can only repeat old lists.
  ExpectRefused(list->Accept(before), StatusCode::kInvalidArgument, "older revocation list (number 1)");
  EXPECT_FALSE(list->Check(coordinator_).ok());
  EXPECT_EQ(Mode(folder_ / "state.pem"), 0600U);
}

TEST_F(ReceivedListTest, BoundsHowLongAStolenKeyCanBeUsed) {
  const auto list = Open();
  ASSERT_TRUE(list->Accept(Lists()).ok());
  now_ = kNow + 90 * kDay + 1;
  ExpectRefused(list->Check(coordinator_), StatusCode::kUnavailable, "expired on");
  ExpectRefused(list->Accept(Lists()), StatusCode::kInvalidArgument, "expired on");
  const auto again = Open();  // An expired list is kept: it still says who was revoked.
  ExpectRefused(again->Check(coordinator_), StatusCode::kUnavailable, "expired on");
  ASSERT_TRUE(RenewList(dir_, now_).ok());
  EXPECT_TRUE(again->Accept(Lists()).ok());
  EXPECT_TRUE(again->Check(coordinator_).ok());
}

TEST_F(ReceivedListTest, RefusesWhatTheAuthorityDidNotSign) {
  const auto list = Open();
  ASSERT_TRUE(InitAuthority(folder_ / "other", {.now = kNow}).ok());
  ExpectRefused(list->Accept(Text(folder_ / "other" / "revoked.pem")), StatusCode::kInvalidArgument,
                "was not signed by the authority of this fleet");
  EXPECT_EQ(list->Accept("").code(), StatusCode::kCorrupt);
  EXPECT_EQ(list->Accept(Lists().substr(0, 100)).code(), StatusCode::kCorrupt);
  ExpectRefused(list->Accept(std::string(kLongestRevocations + 1, ' ')), StatusCode::kInvalidArgument,
                "has 1000001 bytes; allowed: 1000000");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "state.pem"));
}

TEST_F(ReceivedListTest, FollowsARotation) {
  const auto list = Open();
  ASSERT_TRUE(list->Accept(Lists()).ok());
  Rotate();
  ASSERT_TRUE(list->Accept(Lists()).ok());  // It does not trust the new authority yet.
  Issue(dir_, "coordinator", /*renew=*/true);
  const std::string renewed = Text(dir_ / "coordinator" / "cert.pem");
  EXPECT_FALSE(list->Check(renewed).ok());
  ASSERT_TRUE(list->Trust(Text(dir_ / "ca.pem")).ok());
  ASSERT_TRUE(list->Accept(Lists()).ok());
  EXPECT_TRUE(list->Check(renewed).ok());
  EXPECT_TRUE(list->Check(coordinator_).ok());
  EXPECT_TRUE(Open()->Check(renewed).ok());
  // What is kept loses the list of an authority that is trusted no more, even if nothing else is new.
  for (const char* name : {"operator", "pi-3"}) Issue(dir_, name, /*renew=*/true);
  ASSERT_TRUE(Revoke(dir_, "alice", kNow).ok());
  ASSERT_TRUE(list->Accept(Lists()).ok());
  ASSERT_TRUE(RetireAuthority(dir_, kNow).ok());
  ASSERT_TRUE(list->Trust(Text(dir_ / "ca.pem")).ok());
  ASSERT_TRUE(list->Accept(Lists()).ok());
  EXPECT_EQ(Text(folder_ / "state.pem"), Lists());
}

}  // namespace
}  // namespace tributary::inline keys
