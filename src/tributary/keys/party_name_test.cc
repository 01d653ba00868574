#include "tributary/keys/party_name.h"

#include <gtest/gtest.h>

namespace tributary::inline keys {
namespace {

TEST(PartyName, GoesIntoAHostAndBack) {
  EXPECT_EQ(CertificateHost("pi-3"), "pi-3.tributary");
  for (const std::string_view name : {"a", "0", "pi-3", "x--y", "coordinator", "operator"}) {
    EXPECT_EQ(NameFromHost(CertificateHost(name)), name);
  }
  EXPECT_EQ(NameFromHost(CertificateHost(std::string(63, 'a'))), std::string(63, 'a'));
}

TEST(PartyName, IsInNoOtherHost) {
  for (const std::string_view host :
       {"", ".", ".tributary", "tributary", "pi-3", "pi-3.tributary.", "pi-3.tributary.com", "a.b.tributary",
        "*.tributary", "Pi-3.tributary", "-a.tributary", "a-.tributary", "../x.tributary", "a b.tributary",
        "pi-3.tributary\n", "p\u00ef.tributary", "pi_3.tributary"}) {
    EXPECT_FALSE(NameFromHost(host)) << host;
  }
  EXPECT_FALSE(NameFromHost(CertificateHost(std::string(64, 'a'))));
  // A certificate for another host that a careless reader of C strings would take for ours, and the reverse.
  using namespace std::string_view_literals;
  EXPECT_FALSE(NameFromHost("coordinator\0.tributary"sv));
  EXPECT_FALSE(NameFromHost("pi-3.tributary\0.example.com"sv));
}

TEST(DeviceName, IsWhatAHostAndAFolderCanBeCalled) {
  for (const std::string_view name : {"a", "7", "pi-3", "jetson-nano-12"})
    EXPECT_TRUE(CheckDeviceName(name).ok()) << name;
  EXPECT_TRUE(CheckDeviceName(std::string(63, 'z')).ok());
  for (const std::string_view name : {"", "-", "-a", "a-", "A", "a.b", ".", "..", "../x", "a/b", "/etc",
                                      "a\\b", "a b", "a\n", "\u00e9", "a_b", "~", "$HOME"}) {
    EXPECT_EQ(CheckDeviceName(name).code(), StatusCode::kInvalidArgument) << name;
  }
  EXPECT_FALSE(CheckDeviceName(std::string(64, 'z')).ok());
}

TEST(DeviceName, IsNotThatOfAnotherParty) {
  for (const std::string_view name : {kCoordinatorName, kOperatorName}) {
    const Status status = CheckDeviceName(name);
    EXPECT_NE(status.message().find("reserved"), std::string::npos) << status;
  }
}

TEST(DeviceName, IsShownWithoutBytesThatATerminalActsOn) {
  EXPECT_EQ(CheckDeviceName("a\x1b[2J").message().find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace tributary::inline keys
