#include "tributary/fleet/protocol/members.h"

#include <gtest/gtest.h>

#include <limits>

namespace tributary::inline protocol {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Members, KeepTheirNumbersInTheOrderOfComing) {
  Members members;
  EXPECT_EQ(*members.Find("b", seconds(1)), 0U);
  EXPECT_EQ(*members.Find("a", seconds(2)), 1U);
  EXPECT_EQ(*members.Find("b", seconds(3)), 0U);
  EXPECT_EQ(members.all()[1].profile.id, DeviceId{1});
  EXPECT_EQ(members.all()[1].name, "a");
  EXPECT_EQ(members.all()[0].since, seconds(1));
}

TEST(Members, AreNotWithoutNumber) {
  Members members;
  Status status;
  for (int i = 0; status.ok() && i < 200'000; ++i)
    status = members.Find(std::to_string(i), seconds(0)).status();
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_TRUE(members.Find("0", seconds(0)).ok());  // Who is known may still come.
}

TEST(Members, RememberSinceWhenTheyDoWhatTheyDo) {
  Members members;
  ASSERT_TRUE(members.Find("a", seconds(1)).ok());
  members.Set(0, Doing::kWaiting, seconds(2));
  members.Set(0, Doing::kWaiting, seconds(3));
  EXPECT_EQ(members.all()[0].since, seconds(2));
  members.Set(0, Doing::kGone, seconds(4));
  EXPECT_EQ(members.all()[0].since, seconds(4));
}

TEST(Members, HaveSoundProfilesWhateverTheySay) {
  Members members;
  ASSERT_TRUE(members.Find("a", seconds(1)).ok());
  for (const double absurd : {0.0, 5e-324, 1e308, std::numeric_limits<double>::max()}) {
    members.Describe(0, {.samples = 5,
                         .macs_per_second = absurd,
                         .up_bits_per_second = absurd,
                         .down_bits_per_second = absurd,
                         .round_trip_seconds = absurd,
                         .memory_bytes = absurd,
                         .threads = 3});
    const DeviceProfile& profile = members.all()[0].profile;
    for (const double rate : {profile.compute.value, profile.uplink.value, profile.downlink.value}) {
      EXPECT_GE(rate, 1);
      EXPECT_LE(rate, 1e18);
    }
    EXPECT_GE(profile.round_trip.count(), 0);
    EXPECT_GE(profile.memory.value, 0);
    EXPECT_EQ(profile.samples, 5);
  }
}

TEST(Members, AreEstimatedFromWhatIsSeen) {
  Members members;
  ASSERT_TRUE(members.Find("a", seconds(1)).ok());
  members.Describe(0, {.macs_per_second = 100, .up_bits_per_second = 80, .down_bits_per_second = 800});
  members.SeeCompute(0, 2000, seconds(10), seconds(10));
  members.SeeUp(0, Bytes{10}, seconds(2));
  members.SeeDown(0, Bytes{1000}, milliseconds(1));
  const DeviceProfile& profile = members.all()[0].profile;
  EXPECT_DOUBLE_EQ(profile.compute.value, 0.7 * 100 + 0.3 * 200);
  EXPECT_DOUBLE_EQ(profile.uplink.value, 0.7 * 80 + 0.3 * 40);
  EXPECT_DOUBLE_EQ(profile.downlink.value, 0.7 * 800 + 0.3 * 8e6);
  members.SeeCompute(0, 0, seconds(1), seconds(1));
  members.SeeCompute(0, 1e18, std::chrono::nanoseconds(0),
                     std::chrono::nanoseconds(0));  // Too short to tell.
  EXPECT_DOUBLE_EQ(profile.compute.value, 130);
}

TEST(Members, SpeedsAndRatesCountWithAMultipleOfWhatWasMeasured) {
  Members members;
  ASSERT_TRUE(members.Find("a", seconds(1)).ok());
  members.Describe(0, {.macs_per_second = 1e18, .streams = true});
  members.SeeCompute(0, 2000, std::chrono::microseconds(101), seconds(10));
  EXPECT_DOUBLE_EQ(members.all()[0].profile.compute.value, Members::kMostOfMeasured * 200);
  members.NoteStream(0, StreamUse{.last = 63, .samples_per_second = 1e18}, 64, seconds(2));
  EXPECT_DOUBLE_EQ(members.all()[0].stream_rate->value, Members::kMostOfMeasured * 32);
  members.NoteStream(0, StreamUse{.last = 127, .samples_per_second = 40}, 64, seconds(2));
  EXPECT_DOUBLE_EQ(members.all()[0].stream_rate->value, 40);
}

TEST(Members, MayTryToJoinSoManyTimesAMinute) {
  Members members;
  ASSERT_TRUE(members.Find("a", seconds(1)).ok());
  int admitted = 0;
  for (int i = 0; i < 1000; ++i) admitted += Members::MayJoin(members[0], seconds(5)) ? 1 : 0;
  EXPECT_EQ(admitted, kMostJoinsAtOnce);
  for (int i = 0; i < 1000; ++i) admitted += Members::MayJoin(members[0], seconds(5 + 60)) ? 1 : 0;
  EXPECT_EQ(admitted, kMostJoinsAtOnce + kMostJoinsAMinute);
}

}  // namespace
}  // namespace tributary::inline protocol
