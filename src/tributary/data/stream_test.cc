#include "tributary/data/stream.h"

#include <gtest/gtest.h>

namespace tributary::inline data {
namespace {

TEST(StreamStatus, TellsEachChangeOnce) {
  StreamStatus status("topic a", {StreamPhase::kWaiting, "connecting"});
  EXPECT_FALSE(status.TakeNews());
  for (const char* reason : {"no route", "refused"}) status.Set(StreamPhase::kWaiting, reason);
  EXPECT_EQ(status.TakeNews(), "topic a: no route");
  EXPECT_FALSE(status.TakeNews());
  status.Set(StreamPhase::kConnected, "connected");
  EXPECT_EQ(status.TakeNews(), "topic a: connected");
  EXPECT_FALSE(status.TakeNews());
  for (const char* reason : {"refused", "timed out", "refused"}) status.Set(StreamPhase::kWaiting, reason);
  EXPECT_EQ(status.TakeNews(), "topic a: refused");
  EXPECT_FALSE(status.TakeNews());
}

TEST(StreamStatus, SaysNothingWhileAllIsWell) {
  StreamStatus status("topic a", {StreamPhase::kConnected, "connected"});
  status.Set(StreamPhase::kConnected, "connected again");
  EXPECT_FALSE(status.TakeNews());
}

TEST(StreamStatus, StaysStopped) {
  StreamStatus status("topic a", {StreamPhase::kConnected, "connected"});
  status.Set(StreamPhase::kStopped, "closed");
  status.Set(StreamPhase::kConnected, "connected");
  EXPECT_EQ(status.state(), (StreamState{StreamPhase::kStopped, "closed"}));
}

}  // namespace

}  // namespace tributary::inline data
