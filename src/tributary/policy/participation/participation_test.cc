#include "tributary/policy/participation/participation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tributary::inline policy {
namespace {

std::vector<DeviceId> Devices(std::uint64_t count) {
  std::vector<DeviceId> devices;
  for (std::uint64_t i = 0; i < count; ++i) devices.push_back({i});
  return devices;
}

TEST(Participation, TakesAsManyAsAskedInOrderAndEachOnce) {
  const auto chosen = ChooseParticipants(Devices(20), 7, 1, RoundId{3});
  EXPECT_EQ(chosen.size(), 7U);
  EXPECT_TRUE(std::is_sorted(chosen.begin(), chosen.end()));
  EXPECT_EQ(std::adjacent_find(chosen.begin(), chosen.end()), chosen.end());
  EXPECT_EQ(ChooseParticipants(Devices(5), 9, 1, RoundId{3}), Devices(5));
  EXPECT_EQ(ChooseParticipants(Devices(20), 7, 1, RoundId{3}), chosen);
  EXPECT_NE(ChooseParticipants(Devices(20), 7, 1, RoundId{4}), chosen);
}

TEST(Participation, IsFair) {
  // 4,000 rounds of 3 of 10: each device about 1,200 times, within five standard deviations.
  std::vector<int> times(10, 0);
  for (std::uint64_t round = 0; round < 4000; ++round) {
    for (const DeviceId device : ChooseParticipants(Devices(10), 3, 5, RoundId{round})) ++times[device.value];
  }
  for (const int count : times) EXPECT_NEAR(count, 1200, 5 * std::sqrt(4000 * 0.3 * 0.7));
}

}  // namespace
}  // namespace tributary::inline policy
