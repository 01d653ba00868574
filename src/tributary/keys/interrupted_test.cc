#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstdio>

#include "tributary/keys/revocation_list.h"
#include "tributary/keys/testing_keys.h"
#include "tributary/keys/x509.h"

// What is left when the work on an authority's folder ends in the middle. Every lasting change is a rename, so a
// process that is killed when it is about to make its n-th rename, for every n, goes through all there is to go
// through.

namespace {
int renames_to_live = -1;
}  // namespace

// In place of the C library's.
extern "C" int rename(const char* from, const char* to) noexcept {
  if (renames_to_live-- == 0) ::raise(SIGKILL);
  return ::renameat(AT_FDCWD, from, AT_FDCWD, to);
}

namespace tributary::inline keys {
namespace {

namespace fs = std::filesystem;

class InterruptedTest : public KeysFixture {
 protected:
  // Whether `work`, in a process of its own, was killed before its rename number `renames`; else it must have
  // succeeded.
  template <typename Work>
  static bool Killed(int renames, Work work) {
    const pid_t child = ::fork();
    if (child == 0) {
      renames_to_live = renames;
      ::_exit(work().ok() ? 0 : 1);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status)) return true;
    EXPECT_EQ(WEXITSTATUS(status), 0);
    return false;
  }

  static std::string Serial(const fs::path& certificate_file) {
    const auto certificate = ParseCertificate(Text(certificate_file));
    return certificate.ok() ? SerialText(*X509_get0_serialNumber(certificate->get())) : "";
  }

  std::vector<IssuedCertificate> Of(std::string_view name) const {
    std::vector<IssuedCertificate> issued = Issued();
    std::erase_if(issued, [&](const IssuedCertificate& one) { return one.name != name; });
    return issued;
  }
  static auto Unrevoked(const std::vector<IssuedCertificate>& issued) {
    return std::count_if(issued.begin(), issued.end(),
                         [](const IssuedCertificate& one) { return !one.revoked; });
  }

  // Parties can connect with their bundles and the list, and the authority can issue.
  static void ExpectUsable(const fs::path& dir, std::time_t now) {
    EXPECT_TRUE(ListIssued(dir).ok()) << ListIssued(dir).status();
    for (const char* bundle : {"coordinator", "operator"}) {
      const auto credentials = LoadCredentials(dir / bundle, now);
      ASSERT_TRUE(credentials.ok()) << credentials.status();
      const auto list = RevocationList::Load(dir / "revoked.pem", credentials->authority_pem,
                                             {.wall_clock = [now] { return std::chrono::seconds(now); }});
      ASSERT_TRUE(list.ok()) << list.status();
      EXPECT_TRUE((*list)->Check(credentials->certificate_pem).ok());
    }
    const fs::path copy = dir.parent_path() / "usable";
    fs::remove_all(copy);
    fs::copy(dir, copy, fs::copy_options::recursive);
    const auto issued = IssueDevice(copy, "pi-8", {.now = now});
    EXPECT_TRUE(issued.ok()) << issued.status();
    fs::remove_all(copy);
  }

  // Every certificate on disk, hidden or not, is in issued.txt.
  void ExpectNothingUnrecorded() const {
    const auto issued = Issued();
    for (const auto& entry : fs::recursive_directory_iterator(dir_)) {
      if (entry.path().filename() != "cert.pem") continue;
      const std::string serial = Serial(entry.path());
      EXPECT_TRUE(std::any_of(issued.begin(), issued.end(), [&](const auto& one) {
        return one.serial == serial;
      })) << entry.path();
    }
  }
};

TEST_F(InterruptedTest, ARenewalHasRevokedTheOldCertificateBeforeTheNewOneIsThere) {
  const auto bundle = Issue(dir_, "pi-3");
  const auto renew = [&] { return IssueDevice(dir_, "pi-3", {.now = kNow, .renew = true}); };
  int kills = 0;
  for (; Killed(kills, renew); ++kills) {
    ExpectNothingUnrecorded();
    const auto issued = Of("pi-3");
    ASSERT_FALSE(issued.empty());
    if (fs::exists(bundle)) {  // If not, the kill came when the old one had been removed.
      const auto credentials = LoadCredentials(bundle, kNow);
      EXPECT_TRUE(credentials.ok()) << credentials.status();
      const bool new_one = Serial(bundle / "cert.pem") == issued.back().serial;
      EXPECT_TRUE(!new_one || Unrevoked(issued) == 1);
    }
  }
  EXPECT_EQ(kills, 6);  // issued.txt, revoked.pem, the three files of the bundle, its folder
  // The call that came through has mended it all.
  EXPECT_EQ(Unrevoked(Of("pi-3")), 1);
  EXPECT_EQ(Serial(bundle / "cert.pem"), Of("pi-3").back().serial);
  EXPECT_TRUE(LoadCredentials(bundle, kNow).ok());
  EXPECT_EQ(std::distance(fs::directory_iterator(dir_ / "devices"), {}), 1);
}

TEST_F(InterruptedTest, AFirstCertificateIsRecordedBeforeItIsThere) {
  const auto bundle = dir_ / "devices" / "pi-3";
  int kills = 0;
  // The record is first, so that from then on the name counts as taken and is to be renewed.
  for (;
       Killed(kills, [&] { return IssueDevice(dir_, "pi-3", {.now = kNow, .renew = !Of("pi-3").empty()}); });
       ++kills) {
    ExpectNothingUnrecorded();
    EXPECT_FALSE(fs::exists(bundle));
  }
  EXPECT_GT(kills, 4);
  EXPECT_TRUE(LoadCredentials(bundle, kNow).ok());
  EXPECT_EQ(Unrevoked(Of("pi-3")), 1);
}

TEST_F(InterruptedTest, ARevocationIsMadeOrNotMade) {
  Issue(dir_, "pi-3");
  ASSERT_TRUE(Killed(0, [&] { return Revoke(dir_, "pi-3", kNow); }));
  EXPECT_EQ(Unrevoked(Of("pi-3")), 1);
  ASSERT_FALSE(Killed(1, [&] { return Revoke(dir_, "pi-3", kNow); }));
  EXPECT_EQ(Unrevoked(Of("pi-3")), 0);
}

TEST_F(InterruptedTest, AnAuthorityIsThereWholeOrNotAtAll) {
  const auto other = folder_ / "other";
  int kills = 0;
  for (; Killed(kills, [&] { return InitAuthority(other, {.now = kNow}); }); ++kills)
    EXPECT_FALSE(fs::exists(other));
  EXPECT_EQ(kills, 11);
  EXPECT_TRUE(ListIssued(other).ok());
  EXPECT_TRUE(LoadCredentials(other / "coordinator", kNow).ok());
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 2);
}

TEST_F(InterruptedTest, ARotationIsMadeOrNotMade) {
  Issue(dir_, "pi-3");
  int kills = 0;
  for (; Killed(kills, [&] { return RotateAuthority(dir_, {.now = kNow}); }); ++kills) {
    ExpectUsable(dir_, kNow);
    for (const IssuedCertificate& one : Issued()) EXPECT_FALSE(one.previous);
  }
  EXPECT_GT(kills, 8);  // the files of old/ and itself, revoked.pem, ca.pem twice, three bundles, ca.key
  ExpectUsable(dir_, kNow);
  for (const IssuedCertificate& one : Issued()) EXPECT_TRUE(one.previous);
}

TEST_F(InterruptedTest, ARetirementIsCompletedByTheNextChange) {
  ASSERT_TRUE(RotateAuthority(dir_, {.now = kNow}).ok());
  for (const char* name : {"coordinator", "operator"}) Issue(dir_, name, /*renew=*/true);
  const auto copy = folder_ / "copy";
  for (int kills = 0;; ++kills) {
    fs::remove_all(copy);
    fs::copy(dir_, copy, fs::copy_options::recursive);
    const bool killed = Killed(kills, [&] { return RetireAuthority(copy, kNow); });
    ExpectUsable(copy, kNow);
    EXPECT_TRUE(IssueDevice(copy, "pi-9", {.now = kNow}).ok());
    EXPECT_FALSE(fs::exists(copy / "old"));
    EXPECT_EQ(ParseCertificates(Text(copy / "ca.pem"))->size(), 1U);
    const auto issued = ListIssued(copy);
    ASSERT_TRUE(issued.ok()) << issued.status();
    for (const IssuedCertificate& one : *issued) EXPECT_FALSE(one.previous || one.revoked) << one.name;
    if (!killed) break;
  }
}

TEST_F(InterruptedTest, AFullDiskLeavesWhatWasThere) {
  const auto bundle = Issue(dir_, "pi-3");
  const std::string before =
      Text(dir_ / "issued.txt") + Text(dir_ / "revoked.pem") + Text(bundle / "cert.pem");
  // A limit on file size fails writes as a full disk does.
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit usual{};
  ::getrlimit(RLIMIT_FSIZE, &usual);
  rlimit small = usual;
  small.rlim_cur = 16;
  ::setrlimit(RLIMIT_FSIZE, &small);
  const auto renewed = IssueDevice(dir_, "pi-3", {.now = kNow, .renew = true});
  const Status revoked = Revoke(dir_, "pi-3", kNow);
  const Status made = InitAuthority(folder_ / "other", {.now = kNow});
  ::setrlimit(RLIMIT_FSIZE, &usual);
  EXPECT_EQ(renewed.status().code(), StatusCode::kResourceExhausted) << renewed.status();
  EXPECT_EQ(revoked.code(), StatusCode::kResourceExhausted) << revoked;
  EXPECT_EQ(made.code(), StatusCode::kResourceExhausted) << made;
  EXPECT_EQ(Text(dir_ / "issued.txt") + Text(dir_ / "revoked.pem") + Text(bundle / "cert.pem"), before);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

}  // namespace
}  // namespace tributary::inline keys
