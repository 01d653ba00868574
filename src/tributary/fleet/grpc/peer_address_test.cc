#include "tributary/fleet/grpc/peer_address.h"

#include <gtest/gtest.h>

namespace tributary::inline rpc {
namespace {

TEST(PeerAddress, IsReadAndWrittenBack) {
  for (const std::string text :
       {"pi-3.local:7071", "192.168.1.3:1", "[fd00::3]:65535", "[::ffff:10.0.0.1]:7", "x_y:0"}) {
    const auto address = ParsePeerAddress(text);
    ASSERT_TRUE(address.ok()) << address.status();
    EXPECT_EQ(Format(*address), text);
  }
  EXPECT_EQ(ParsePeerAddress("[fd00::3]:80")->host, "fd00::3");
  EXPECT_EQ(ParsePeerAddress("a:80")->port, 80);
}

TEST(PeerAddress, KnowsThisMachine) {
  for (const char* text : {"localhost:1", "127.0.0.1:1", "127.1.2.3:1", "[::1]:1"}) {
    EXPECT_TRUE(ParsePeerAddress(text)->loopback()) << text;
  }
  for (const char* text : {"localhost.example:1", "10.127.0.1:1", "[::2]:1"}) {
    EXPECT_FALSE(ParsePeerAddress(text)->loopback()) << text;
  }
}

// Whatever a dialler might take for something else.
TEST(PeerAddress, RefusesEverythingElse) {
  for (const std::string& text : {std::string(),
                                  std::string("host"),
                                  std::string(":7071"),
                                  std::string("host:"),
                                  std::string("host:65536"),
                                  std::string("host:-1"),
                                  std::string("host:+1"),
                                  std::string("host:7x"),
                                  std::string("host:99999999999999999999"),
                                  std::string("unix:/tmp/x"),
                                  std::string("unix:///tmp/x:1"),
                                  std::string("dns:///host:1"),
                                  std::string("a,b:1"),
                                  std::string("a b:1"),
                                  std::string("fd00::3:1"),
                                  std::string("[fd00::3:1"),
                                  std::string("[]:1"),
                                  std::string("[host]:1"),
                                  std::string("-host:1"),
                                  std::string("a\x1b:1"),
                                  std::string("a%25:1"),
                                  std::string(254, 'x') + ":1"}) {
    const auto address = ParsePeerAddress(text);
    EXPECT_FALSE(address.ok()) << text;
    EXPECT_NE(address.status().message().find("is no HOST:PORT"), std::string::npos);
    EXPECT_EQ(address.status().message().find('\x1b'), std::string::npos);
  }
}

}  // namespace
}  // namespace tributary::inline rpc
