#include "tributary/policy/partitioning/label_splits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace tributary::inline policy {
namespace {

SamplesByClass Classes(std::initializer_list<std::size_t> sizes) {
  SamplesByClass classes;
  for (const std::size_t size : sizes) classes.emplace_back(size);
  return classes;
}

TEST(AssignClasses, EveryDeviceHasItsNumberOfClassesAndHoldersAreBalanced) {
  Rng rng(3);
  for (int trial = 0; trial < 300; ++trial) {
    const std::size_t classes = 1 + rng.Below(20);
    const std::size_t per_device = 1 + rng.Below(classes);
    const std::size_t devices = (classes + per_device - 1) / per_device + rng.Below(40);
    const auto holders =
        AssignClasses(SamplesByClass(classes, std::vector<std::uint32_t>(100)), devices, per_device, rng);
    ASSERT_TRUE(holders.ok()) << holders.status();
    std::vector<std::size_t> held(devices, 0);
    std::size_t fewest = devices, most = 0;
    for (const auto& of_class : *holders) {
      EXPECT_EQ(std::set<std::size_t>(of_class.begin(), of_class.end()).size(), of_class.size());
      for (const std::size_t device : of_class) ++held[device];
      fewest = std::min(fewest, of_class.size());
      most = std::max(most, of_class.size());
    }
    EXPECT_EQ(held, std::vector<std::size_t>(devices, per_device));
    EXPECT_GE(fewest, 1U);
    EXPECT_LE(most, fewest + 1);
  }
}

TEST(AssignClasses, GivesOutOnlyClassesThatHaveSamples) {
  Rng rng(4);
  const auto holders = AssignClasses(Classes({5, 0, 5, 0}), 3, 2, rng);
  ASSERT_TRUE(holders.ok()) << holders.status();
  EXPECT_EQ((*holders)[0].size(), 3U);
  EXPECT_TRUE((*holders)[1].empty());
  EXPECT_EQ((*holders)[2].size(), 3U);
}

TEST(AssignClasses, DoesNotAlwaysPairTheSameClasses) {
  std::set<std::vector<std::vector<std::size_t>>> seen;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Rng rng(seed);
    seen.insert(*AssignClasses(Classes({9, 9, 9, 9, 9, 9}), 3, 2, rng));
  }
  EXPECT_GE(seen.size(), 8U);
}

TEST(AssignClasses, RefusesMoreClassesThanHaveSamples) {
  Rng rng(5);
  const auto holders = AssignClasses(Classes({5, 0, 5}), 4, 3, rng);
  EXPECT_EQ(holders.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(holders.status().message().find("only 2 classes have samples"), std::string::npos)
      << holders.status();
}

TEST(AssignClasses, RefusesToLeaveAClassWithoutADevice) {
  Rng rng(5);
  const auto holders = AssignClasses(Classes({5, 5, 5, 5, 5}), 2, 2, rng);
  EXPECT_EQ(holders.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(holders.status().message().find("places for 4 classes, but 5"), std::string::npos)
      << holders.status();
}

TEST(AssignClasses, RefusesMoreHoldersThanSamples) {
  Rng rng(5);
  const auto holders = AssignClasses(Classes({50, 2}), 4, 2, rng);
  EXPECT_EQ(holders.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(holders.status().message().find("class 1 would be held by 4 devices"), std::string::npos)
      << holders.status();
}

}  // namespace

}  // namespace tributary::inline policy
