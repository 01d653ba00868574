#include "tributary/experiment/fleet_builder.h"

#include <gtest/gtest.h>

#include <chrono>

#include "tributary/experiment/reader.h"
#include "tributary/experiment/testing_texts.h"

namespace tributary::inline experiment {
namespace {

using testing::kEverything;
using testing::kLeast;

std::vector<DeviceProfile> Build(std::string_view text, std::vector<std::string> overrides = {}) {
  const auto read = ReadExperimentText(text, {"e.toml", std::nullopt}, overrides);
  EXPECT_TRUE(read.ok()) << read.status();
  auto built = BuildFleet(*read);
  EXPECT_TRUE(built.ok()) << built.status();
  return std::move(built).value();
}

TEST(FleetBuilder, NumbersDevicesThroughTheGroups) {
  const auto devices = Build(kEverything);
  ASSERT_EQ(devices.size(), 14U);
  for (std::size_t i = 0; i < devices.size(); ++i) EXPECT_EQ(devices[i].id, DeviceId{i});
  EXPECT_EQ(devices[9].group, "phones");
  EXPECT_EQ(devices[10].group, "watches");
  EXPECT_EQ(devices[13].group, "loans");
}

TEST(FleetBuilder, DrawsWhatTheGroupSays) {
  const auto devices = Build(kEverything);
  for (std::size_t i = 0; i < 10; ++i) {
    const DeviceProfile& phone = devices[i];
    EXPECT_EQ(phone.uplink, BitsPerSecond{i % 2 == 0 ? 1e6 : 2.5e6});
    EXPECT_EQ(phone.downlink, BitsPerSecond{8e7});
    EXPECT_EQ(phone.setup, std::chrono::milliseconds(1));
    EXPECT_GT(phone.compute.value, 0);
    EXPECT_TRUE(phone.memory >= Bytes{1'000'000'000} && phone.memory <= Bytes{4'000'000'000});
    EXPECT_TRUE(phone.round_trip >= std::chrono::milliseconds(10) &&
                phone.round_trip <= std::chrono::milliseconds(200));
    EXPECT_GT(phone.stream_rate.value, 0);
    const double share = phone.availability.At(std::chrono::seconds(35));
    EXPECT_TRUE(share >= 0.2 && share <= 0.9);
  }
  EXPECT_NE(devices[0].compute, devices[1].compute);
  EXPECT_NE(devices[0].availability.At(Duration(0)), devices[1].availability.At(Duration(0)));
  EXPECT_EQ(devices[10].availability.At(std::chrono::seconds(95)), 0.25);
  EXPECT_EQ(devices[12].availability.At(Duration(0)), 0.5);
  EXPECT_EQ(devices[12].stream_rate.value, 0);
  EXPECT_EQ(devices[0].stream_programme.steps.size(), 3U);
  EXPECT_EQ(devices[0].stream_programme.after, RateProgramme::After::kRepeat);
  EXPECT_EQ(devices[12].stream_programme, RateSteps{});
}

TEST(FleetBuilder, IsAFunctionOfTheSeed) {
  const auto once = Build(kEverything), again = Build(kEverything);
  const auto other = Build(kEverything, {"experiment.seed=8"});
  EXPECT_EQ(once[3].compute, again[3].compute);
  EXPECT_NE(once[3].compute, other[3].compute);
}

TEST(FleetBuilder, ALaterGroupChangesNoEarlierDevice) {
  const auto few = Build(kEverything), more = Build(kEverything, {"fleet.group.loans.count=5"});
  ASSERT_EQ(more.size(), 18U);
  for (std::size_t i = 0; i < few.size(); ++i) EXPECT_EQ(few[i].compute, more[i].compute);
}

TEST(FleetBuilder, ThousandsShareTheirTrace) {
  const auto devices =
      Build(kLeast, {"fleet.group.0.count=20000",
                     "fleet.group.0.availability={ trace = [[0, 1.0], [10, 0.5]], after = \"hold\" }"});
  EXPECT_EQ(devices.size(), 20'000U);
  EXPECT_EQ(devices.back().availability.At(std::chrono::seconds(20)), 0.5);
}

}  // namespace
}  // namespace tributary::inline experiment
