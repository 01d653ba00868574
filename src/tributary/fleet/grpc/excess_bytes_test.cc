#include "tributary/fleet/grpc/excess_bytes.h"

#include <gtest/gtest.h>

namespace tributary::inline rpc {
namespace {

using std::chrono::seconds;

TEST(ExcessBytes, AreWhatArrivesAndIsNoMessage) {
  ExcessBytes excess;
  excess.Update({.received = 5'000'000}, seconds(0));
  EXPECT_EQ(excess.bytes(), 5'000'000);
  excess.Update({.received = 7'000'000}, seconds(0));
  EXPECT_EQ(excess.bytes(), 7'000'000);
}

TEST(ExcessBytes, EndWithTheMessageThatTheyBelongTo) {
  ExcessBytes excess;
  for (std::int64_t message = 1; message <= 1000; ++message) {
    excess.Update({.received = message * 4'010'000, .taken = (message - 1) * 4'000'000}, seconds(0));
    EXPECT_LT(excess.bytes(), 4'100'000);
    excess.Update({.received = message * 4'010'000, .taken = message * 4'000'000}, seconds(0));
    EXPECT_EQ(excess.bytes(), 0);
  }
}

TEST(ExcessBytes, AreNotTheAnswersToWhatWasSentNorPings) {
  ExcessBytes excess;
  excess.Update({.received = 3'000'000, .sent = 400'000'000}, seconds(0));
  EXPECT_EQ(excess.bytes(), 0);
  for (int minute = 1; minute <= 1000; ++minute) {
    excess.Update({.received = 3'000'000 + minute * 60'000, .sent = 400'000'000}, seconds(60));
  }
  EXPECT_EQ(excess.bytes(), 0);
}

TEST(ExcessBytes, AreNotSavedUp) {
  ExcessBytes excess;
  excess.Update({.sent = 1'000'000'000, .taken = 1'000'000'000}, seconds(100'000));
  excess.Update({.received = 8'000'000, .sent = 1'000'000'000, .taken = 1'000'000'000}, seconds(0));
  EXPECT_EQ(excess.bytes(), 8'000'000);
}

TEST(ExcessBytes, OfEndedConnectionsAreForgottenInTime) {
  ExcessBytes excess;
  excess.Add(5'000'000);
  EXPECT_EQ(excess.Leak(seconds(100)), 5'000'000 - 100 * 4096);
  excess.Add(2'000'000);
  EXPECT_GT(excess.bytes(), 6 << 20);
  EXPECT_EQ(excess.Leak(seconds(3600)), 0);
}

}  // namespace
}  // namespace tributary::inline rpc
