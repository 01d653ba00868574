#include <gtest/gtest.h>

#include "tributary/base/clock.h"
#include "tributary/base/loopback.h"
#include "tributary/base/names.h"
#include "tributary/base/status.h"
#include "tributary/base/text_table.h"
#include "tributary/base/units.h"

namespace tributary::inline base {
namespace {

StatusOr<int> Half(int value) {
  if (value % 2 != 0) return InvalidArgument(std::to_string(value) + " is odd");
  return value / 2;
}

StatusOr<int> Quarter(int value) {
  TRIBUTARY_ASSIGN_OR_RETURN(const int half, Half(value));
  TRIBUTARY_ASSIGN_OR_RETURN(const int quarter, Half(half));
  return quarter;
}

TEST(Status, TravelsThroughTheMacros) {
  EXPECT_EQ(*Quarter(12), 3);
  EXPECT_EQ(Quarter(6).status(), InvalidArgument("3 is odd"));
  EXPECT_EQ(InvalidArgument("x").WithContext("file").message(), "file: x");
  EXPECT_TRUE(OkStatus().WithContext("file").ok());
}

TEST(StatusDeathTest, ValueOfAFailureIsABug) { EXPECT_DEATH((void)Half(1).value(), "internal error"); }

TEST(IsLoopback, KnowsNamesAndAddressesButNotNamesThatBeginLikeThem) {
  for (const char* host : {"localhost", "::1", "127.0.0.1", "127.1.2.3"})
    EXPECT_TRUE(IsLoopback(host)) << host;
  for (const char* host :
       {"", "0.0.0.0", "::", "192.168.1.2", "127.0.0.1.example.org", "localhost.example.org"})
    EXPECT_FALSE(IsLoopback(host)) << host;
}

TEST(VirtualClock, MovesOnlyForwardAndOnlyWhenTold) {
  VirtualClock clock;
  EXPECT_EQ(clock.Now(), TimePoint(0));
  clock.AdvanceTo(FromSeconds(1.5));
  EXPECT_EQ(ToSeconds(clock.Now()), 1.5);
  EXPECT_DEATH(clock.AdvanceTo(FromSeconds(1)), "internal error");
}

TEST(RealClock, NeverGoesBack) {
  const auto clock = MakeRealClock();
  TimePoint last = clock->Now();
  for (int i = 0; i < 1000; ++i) {
    const TimePoint now = clock->Now();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(Units, WriteWhatPeopleRead) {
  EXPECT_EQ(FormatCount(3'504'872), "3.50 M");
  EXPECT_EQ(FormatCount(12), "12");
  EXPECT_EQ(FormatBytes(Bytes{143'700'000}), "144 MB");
  EXPECT_EQ(FormatDuration(FromSeconds(72)), "1 min 12 s");
  EXPECT_EQ(FormatDuration(FromSeconds(0.25)), "250 ms");
}

TEST(Names, SuggestTheNearest) {
  const std::vector<std::string> models = {"resnet8", "resnet18", "vgg11"};
  EXPECT_EQ(NearestName("resnet81", models), "resnet8");
  EXPECT_EQ(NearestName("vgg1", models), "vgg11");
  EXPECT_EQ(NearestName("transformer", models), "");
  const Status status = UnknownName("model", "resent18", models);
  EXPECT_EQ(status.message(),
            "unknown model 'resent18'; did you mean 'resnet18'? Known: resnet8, resnet18, vgg11");
}

TEST(TextTable, LinesUpNumbersOnTheRightAndWordsOnTheLeft) {
  TextTable table({"name", "n"});
  table.AddRow({"a", "1"});
  table.AddRow({"größer", "12,345"});
  EXPECT_EQ(table.Format(), "name         n\na            1\ngrößer  12,345\n");
}

TEST(FormatThousands, PutsCommasBetweenGroupsOfThree) {
  EXPECT_EQ(FormatThousands(0), "0");
  EXPECT_EQ(FormatThousands(999), "999");
  EXPECT_EQ(FormatThousands(11'689'512), "11,689,512");
  EXPECT_EQ(FormatThousands(-123'456), "-123,456");
}

}  // namespace
}  // namespace tributary::inline base
