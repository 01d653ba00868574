#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tributary/policy/dropout/subnetwork_rule.h"

namespace tributary::inline policy {
namespace {

ChannelGroups TwoGroups() {
  ChannelGroups groups;
  groups.groups.push_back({"a", 64, 64});
  groups.groups.push_back({"b", 12, 12});
  return groups;
}

KeptAtoms Kept(const std::vector<std::int64_t>& counts, std::uint64_t device, std::uint64_t round) {
  const ChannelGroups groups = TwoGroups();
  return SubnetworkRuleNamed("ist")->make({.groups = groups,
                                           .counts = counts,
                                           .key = {.seed = 7, .device = {device}, .round = {round}},
                                           .draw = round << 24});
}

TEST(IndependentTraining, PartitionsTheChannelsAmongDevicesOfOneWidth) {
  for (const std::uint64_t round : {1, 2, 9}) {
    std::vector<std::set<std::int32_t>> all(2);
    for (std::uint64_t device = 0; device < 4; ++device) {
      const KeptAtoms kept = Kept({16, 3}, device, round);
      ASSERT_EQ(kept[0].size(), 16U);
      ASSERT_EQ(kept[1].size(), 3U);
      for (std::size_t group = 0; group < 2; ++group) {
        EXPECT_TRUE(std::ranges::is_sorted(kept[group]));
        all[group].insert(kept[group].begin(), kept[group].end());
      }
    }
    EXPECT_EQ(all[0].size(), 64U);
    EXPECT_EQ(all[1].size(), 12U);
  }
}

TEST(IndependentTraining, DrawsAnotherPartitionEachRound) {
  EXPECT_EQ(Kept({16, 3}, 1, 4), Kept({16, 3}, 1, 4));
  EXPECT_NE(Kept({16, 3}, 1, 4), Kept({16, 3}, 1, 5));
  // A fixed seed: in 600 rounds every channel is expected 150 times, with a standard deviation of 10.6.
  std::vector<int> times(64, 0);
  for (std::uint64_t round = 1; round <= 600; ++round) {
    const KeptAtoms kept = Kept({16, 3}, 2, round);
    for (const std::int32_t atom : kept[0]) ++times[static_cast<std::size_t>(atom)];
  }
  EXPECT_GT(*std::ranges::min_element(times), 150 - 4 * 11);
  EXPECT_LT(*std::ranges::max_element(times), 150 + 4 * 11);
}

TEST(IndependentTraining, TakesTheNumberOfChannelsThatIsAskedFor) {
  for (const std::int64_t count : {1, 5, 63, 64}) {
    const KeptAtoms kept = Kept({count, 12}, 1'000'003, 3);
    EXPECT_EQ(kept[0].size(), static_cast<std::size_t>(count));
    EXPECT_EQ(std::set<std::int32_t>(kept[0].begin(), kept[0].end()).size(), kept[0].size());
    EXPECT_GE(kept[0].front(), 0);
    EXPECT_LT(kept[0].back(), 64);
  }
}

}  // namespace
}  // namespace tributary::inline policy
