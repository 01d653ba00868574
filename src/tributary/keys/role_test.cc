#include "tributary/keys/role.h"

#include <gtest/gtest.h>
#include <openssl/x509v3.h>

#include "tributary/keys/testing_keys.h"
#include "tributary/keys/x509.h"

namespace tributary::inline keys {
namespace {

TEST(Role, HasTheseRightsAndNoOthers) {
  //                                  lead   take part  watch  operate
  constexpr bool kExpected[4][4] = {{false, true, false, false},  // device
                                    {false, false, true, false},  // observer
                                    {false, false, true, true},   // operator
                                    {true, false, true, false}};  // coordinator
  for (const Role role : kRoles) {
    for (const Right right : kRights) {
      const bool expected = kExpected[static_cast<int>(role)][static_cast<int>(right)];
      EXPECT_EQ(May(role, right), expected) << NameOf(role) << " " << static_cast<int>(right);
      EXPECT_EQ(CheckRight({"x", role}, right).ok(), expected) << NameOf(role);
    }
  }
  EXPECT_EQ(CheckRight({"alice", Role::kObserver}, Right::kOperate),
            InvalidArgument("'alice' is an observer and may not change the run; operators may"));
  EXPECT_EQ(CheckRight({"pi-3", Role::kDevice}, Right::kWatch).message(),
            "'pi-3' is a device and may not look at the fleet; observers, operators, coordinators may");
}

TEST(Role, HasAName) {
  for (const Role role : kRoles) EXPECT_EQ(RoleNamed(NameOf(role)), role);
  for (const char* other : {"", "Device", "devices", "root"}) EXPECT_FALSE(RoleNamed(other)) << other;
}

TEST(Role, OwnsItsReservedName) {
  EXPECT_TRUE(CheckPartyName("operator", Role::kOperator).ok());
  EXPECT_TRUE(CheckPartyName("alice", Role::kOperator).ok());
  for (const Role role : {Role::kDevice, Role::kObserver, Role::kCoordinator})
    EXPECT_NE(CheckPartyName("operator", role).message().find("reserved"), std::string::npos);
  EXPECT_FALSE(CheckPartyName("A", Role::kObserver).ok());
}

class RoleTest : public KeysFixture {
 protected:
  StatusOr<std::filesystem::path> Make(std::string_view name, std::optional<Role> role, bool renew = false) {
    return IssueDevice(dir_, name, {.now = kNow, .role = role, .renew = renew});
  }
  // The certificate of pi-3 with other organisational units, signed by the authority.
  std::string WithUnits(const std::vector<std::string>& units) {
    const CertificatePtr certificate =
        *ParseCertificate(Text(Issue(dir_, "pi-3", Known("pi-3")) / "cert.pem"));
    X509_NAME* const subject = X509_get_subject_name(certificate.get());
    for (const int at : {X509_NAME_get_index_by_NID(subject, NID_organizationalUnitName, -1)})
      if (at >= 0) X509_NAME_ENTRY_free(X509_NAME_delete_entry(subject, at));
    for (const std::string& unit : units) {
      X509_NAME_add_entry_by_NID(subject, NID_organizationalUnitName, MBSTRING_UTF8,
                                 reinterpret_cast<const unsigned char*>(unit.data()),
                                 static_cast<int>(unit.size()), -1, 0);
    }
    X509_sign(certificate.get(), ParseKey(Text(dir_ / "ca.key"))->get(), EVP_sha256());
    return *ToPem(*certificate);
  }
  bool Known(std::string_view name) const {
    for (const IssuedCertificate& one : Issued())
      if (one.name == name) return true;
    return false;
  }
};

TEST_F(RoleTest, IsInTheCertificate) {
  const struct {
    const char* name;
    Role role;
    const char* bundle;
  } cases[] = {{"pi-3", Role::kDevice, "devices/pi-3"},
               {"alice", Role::kObserver, "observers/alice"},
               {"bob", Role::kOperator, "operators/bob"},
               {"spare", Role::kCoordinator, "coordinators/spare"}};
  for (const auto& one : cases) {
    const auto bundle = Make(one.name, one.role);
    ASSERT_TRUE(bundle.ok()) << bundle.status();
    EXPECT_EQ(*bundle, dir_ / one.bundle);
    EXPECT_EQ(*PartyInCertificate(Text(*bundle / "cert.pem")), (Party{one.name, one.role}));
    EXPECT_EQ(LoadCredentials(*bundle, kNow)->role, one.role);
    EXPECT_EQ(Issued().back().role, one.role);
  }
  EXPECT_EQ(PartyInCertificate(Text(dir_ / "operator" / "cert.pem"))->role, Role::kOperator);
  EXPECT_EQ(PartyInCertificate(Text(dir_ / "coordinator" / "cert.pem"))->role, Role::kCoordinator);
}

TEST_F(RoleTest, StaysWithTheName) {
  ASSERT_TRUE(Make("alice", Role::kObserver).ok());
  ExpectRefused(Make("alice", Role::kOperator, /*renew=*/true).status(), StatusCode::kInvalidArgument,
                "'alice' has a certificate as an observer; revoke it first");
  EXPECT_TRUE(Make("alice", Role::kObserver, /*renew=*/true).ok());
  ASSERT_TRUE(Revoke(dir_, "alice", kNow).ok());
  EXPECT_TRUE(Make("alice", Role::kOperator).ok());
  EXPECT_EQ(Make("operator", std::nullopt, /*renew=*/true).value(), dir_ / "operator");
  ExpectRefused(Make("operator", Role::kDevice, /*renew=*/true).status(), StatusCode::kInvalidArgument,
                "reserved");
}

TEST_F(RoleTest, IsOneOrNone) {
  EXPECT_EQ(PartyInCertificate(WithUnits({}))->role, Role::kDevice);  // as made before there were roles
  EXPECT_EQ(PartyInCertificate(WithUnits({"observer"}))->role, Role::kObserver);
  for (const std::vector<std::string>& units :
       {std::vector<std::string>{"root"}, {"device", "operator"}, {std::string("operator\0x", 10)}}) {
    EXPECT_FALSE(PartyInCertificate(WithUnits(units)).ok());
  }
}

// An observer's certificate does not open a server: TLS refuses it.
TEST_F(RoleTest, DecidesWhichEndOfAConnectionACertificateIsFor) {
  for (const Role role : kRoles) {
    const auto bundle = Make("x-" + std::string(NameOf(role)), role);
    ASSERT_TRUE(bundle.ok()) << bundle.status();
    const CertificatePtr certificate = *ParseCertificate(Text(*bundle / "cert.pem"));
    EXPECT_EQ(X509_check_purpose(certificate.get(), X509_PURPOSE_SSL_CLIENT, 0), 1);
    EXPECT_EQ(X509_check_purpose(certificate.get(), X509_PURPOSE_SSL_SERVER, 0),
              role == Role::kDevice || role == Role::kCoordinator ? 1 : 0)
        << NameOf(role);
  }
}

}  // namespace
}  // namespace tributary::inline keys
