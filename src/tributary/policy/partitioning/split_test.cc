#include "tributary/policy/partitioning/split.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace tributary::inline policy {
namespace {

std::vector<std::int32_t> RandomLabels(std::size_t samples, int classes, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<std::int32_t> labels(samples);
  for (auto& label : labels)
    label = static_cast<std::int32_t>(rng.Below(static_cast<std::uint64_t>(classes)));
  return labels;
}

std::set<std::int32_t> ClassesOf(const std::vector<std::uint32_t>& device,
                                 std::span<const std::int32_t> labels) {
  std::set<std::int32_t> classes;
  for (const std::uint32_t i : device) classes.insert(labels[i]);
  return classes;
}

// Those of as many sources, of which each has some.
std::vector<std::uint32_t> RandomSources(std::size_t samples, int sources, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<std::uint32_t> result(samples);
  for (std::size_t i = 0; i < samples; ++i) {
    const auto count = static_cast<std::uint64_t>(sources);
    result[i] = static_cast<std::uint32_t>(i < count ? i : rng.Below(count));
  }
  return result;
}

void ExpectEverySampleOnce(const Partition& partition, std::size_t samples) {
  std::vector<int> seen(samples, 0);
  for (const auto& device : partition) {
    EXPECT_TRUE(std::is_sorted(device.begin(), device.end()));
    for (const std::uint32_t i : device) {
      ASSERT_LT(i, samples);
      ++seen[i];
    }
  }
  EXPECT_EQ(seen, std::vector<int>(samples, 1));
}

TEST(MakeSplit, PlacesEverySampleOnceForEveryKind) {
  for (const std::string& kind : SplitKinds()) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      Rng rng(seed);
      SplitOptions options{.kind = kind, .seed = seed};
      const int classes = 2 + static_cast<int>(rng.Below(12));
      options.devices = classes + static_cast<int>(rng.Below(10));
      options.classes_per_device = 1 + static_cast<int>(rng.Below(static_cast<std::uint64_t>(classes)));
      options.shards_per_device = 1 + static_cast<int>(rng.Below(4));
      options.alpha = 0.05 + rng.Uniform();
      const auto labels = RandomLabels(1500 + rng.Below(1000), classes, seed);
      const auto sources =
          RandomSources(labels.size(), options.devices + static_cast<int>(rng.Below(4)), seed);
      const auto partition = MakeSplit(options, labels, classes, sources);
      ASSERT_TRUE(partition.ok()) << kind << ": " << partition.status();
      ASSERT_EQ(partition->size(), static_cast<std::size_t>(options.devices));
      ExpectEverySampleOnce(*partition, labels.size());
      if (kind == "dirichlet") continue;  // The one kind that promises nobody a sample.
      for (const auto& device : *partition) EXPECT_FALSE(device.empty()) << kind;
    }
  }
}

TEST(MakeSplit, IsAFunctionOfTheSeed) {
  const auto labels = RandomLabels(500, 5, 1);
  for (const std::string& kind : SplitKinds()) {
    if (kind == "source") continue;  // Nothing of it is left to chance.
    SplitOptions options{.kind = kind, .devices = 7, .seed = 3};
    const Partition first = *MakeSplit(options, labels, 5);
    EXPECT_EQ(*MakeSplit(options, labels, 5), first) << kind;
    options.seed = 4;
    EXPECT_NE(*MakeSplit(options, labels, 5), first) << kind;
  }
}

TEST(MakeSplit, BySourceKeepsSourcesTogether) {
  const std::vector<std::int32_t> labels(7, 0);
  const std::vector<std::uint32_t> sources = {2, 2, 0, 1, 1, 0, 3};
  const auto split = [&](int devices) {
    return MakeSplit({.kind = "source", .devices = devices}, labels, 1, sources);
  };
  EXPECT_EQ(*split(4), (Partition{{2, 5}, {3, 4}, {0, 1}, {6}}));
  EXPECT_EQ(*split(3), (Partition{{2, 5, 6}, {3, 4}, {0, 1}}));
  EXPECT_EQ(*split(1), (Partition{{0, 1, 2, 3, 4, 5, 6}}));
  EXPECT_EQ(split(5).status().message(),
            "the split 'source' gives each device whole sources; there are 4 sources for 5 devices, and "
            "device 4 would have "
            "no samples; ask for as many devices as there are sources, or fewer");
  EXPECT_NE(
      MakeSplit({.kind = "source", .devices = 2}, labels, 1).status().message().find("do not say where"),
      std::string::npos);
}

TEST(MakeSplit, IidPartsAreEvenAndMixed) {
  const auto labels = RandomLabels(10'003, 10, 2);
  const Partition partition = *MakeSplit({.kind = "iid", .devices = 10}, labels, 10);
  for (const auto& device : partition) {
    EXPECT_TRUE(device.size() == 1000 || device.size() == 1001);
    EXPECT_EQ(ClassesOf(device, labels).size(), 10U);
  }
}

TEST(MakeSplit, ClassesPerDeviceIsExact) {
  const auto labels = RandomLabels(4000, 10, 3);
  for (const std::string kind : {"classes-per-device", "extended-dirichlet"}) {
    for (const int per_device : {1, 2, 3, 7, 10}) {
      const auto partition =
          MakeSplit({.kind = kind, .devices = 23, .alpha = 0.05, .classes_per_device = per_device, .seed = 9},
                    labels, 10);
      ASSERT_TRUE(partition.ok()) << partition.status();
      for (const auto& device : *partition) {
        EXPECT_EQ(ClassesOf(device, labels).size(), static_cast<std::size_t>(per_device)) << kind;
      }
    }
  }
}

TEST(MakeSplit, ShardsAreRunsOfTheSortedLabels) {
  // 10 classes of 60: 30 shards of 20 never cross a border between classes.
  std::vector<std::int32_t> labels(600);
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::int32_t>(i % 10);
  const Partition partition =
      *MakeSplit({.kind = "shards", .devices = 15, .shards_per_device = 2}, labels, 10);
  for (const auto& device : partition) {
    EXPECT_EQ(device.size(), 40U);
    EXPECT_LE(ClassesOf(device, labels).size(), 2U);
  }
}

std::string Refusal(const SplitOptions& options, std::span<const std::int32_t> labels, int classes) {
  const auto partition = MakeSplit(options, labels, classes);
  if (partition.ok()) return "accepted";
  EXPECT_EQ(partition.status().code(), StatusCode::kInvalidArgument);
  return partition.status().message();
}

TEST(MakeSplit, RefusesWhatMakesNoSenseInWords) {
  const auto labels = RandomLabels(20, 4, 4);
  const auto expect = [&](const SplitOptions& options, const std::string& words) {
    EXPECT_NE(Refusal(options, labels, 4).find(words), std::string::npos) << Refusal(options, labels, 4);
  };
  expect({.kind = "dirichlt"}, "did you mean 'dirichlet'?");
  expect({.devices = 0}, "from 1 to the number of samples, 20; found 0");
  expect({.devices = 21}, "found 21");
  for (const double alpha : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    expect({.kind = "dirichlet", .devices = 2, .alpha = alpha}, "alpha must be a finite number above 0");
    expect({.kind = "extended-dirichlet", .devices = 4, .alpha = alpha, .classes_per_device = 1},
           "alpha must be");
  }
  expect({.kind = "classes-per-device", .devices = 4, .classes_per_device = 5},
         "from 1 to the number of classes, 4");
  expect({.kind = "classes-per-device", .devices = 4, .classes_per_device = 0}, "found 0");
  expect({.kind = "shards", .devices = 4, .shards_per_device = 6}, "from 1 to 5");
  expect({.kind = "shards", .devices = 4, .shards_per_device = 0}, "found 0");
}

Partitioner Own(std::function<Partition(std::size_t samples, std::size_t devices)> make) {
  return {.name = "own",
          .make = [make = std::move(make)](const PartitionScene& scene) -> StatusOr<Partition> {
            return make(scene.labels.size(), scene.devices());
          }};
}

// The first sample is on the first device, and so on; the last device has the rest.
Partition InOrder(std::size_t samples, std::size_t devices) {
  Partition partition(devices);
  for (std::uint32_t i = 0; i < samples; ++i) partition[std::min<std::size_t>(i, devices - 1)].push_back(i);
  return partition;
}

TEST(MakeSplit, UsesThePartitionerThatItIsGiven) {
  const auto labels = RandomLabels(20, 4, 4);
  const SplitOptions options{
      .kind = "own", .devices = 3, .own = std::make_shared<const Partitioner>(Own(InOrder))};
  const auto partition = MakeSplit(options, labels, 4);
  ASSERT_TRUE(partition.ok()) << partition.status();
  EXPECT_EQ(*partition, InOrder(20, 3));
}

TEST(MakeSplit, RefusesAPartitionThatIsNone) {
  const auto labels = RandomLabels(20, 4, 4);
  const auto expect_refusal = [&](const std::function<void(Partition&)>& spoil) {
    const Partitioner own = Own([&](std::size_t samples, std::size_t devices) {
      Partition partition = InOrder(samples, devices);
      spoil(partition);
      return partition;
    });
    const SplitOptions options{.kind = "own", .devices = 3, .own = std::make_shared<const Partitioner>(own)};
    EXPECT_EQ(
        Refusal(options, labels, 4),
        "the partitioner 'own' must place every sample on exactly one of 3 devices, in ascending order");
  };
  expect_refusal([](Partition& partition) { partition[2].pop_back(); });
  expect_refusal([](Partition& partition) { partition[0].push_back(19); });
  expect_refusal([](Partition& partition) { partition[2].back() = 20; });
  expect_refusal([](Partition& partition) { std::ranges::reverse(partition[2]); });
  expect_refusal([](Partition& partition) { partition.emplace_back(); });
}

TEST(MakeSplit, RefusesLabelsOutOfRange) {
  EXPECT_NE(Refusal({.devices = 1}, std::vector<std::int32_t>{0, 3, 1}, 3).find("sample 1 has label 3"),
            std::string::npos);
  EXPECT_NE(Refusal({.devices = 1}, std::vector<std::int32_t>{0, -1}, 3).find("sample 1 has label -1"),
            std::string::npos);
  EXPECT_NE(Refusal({.devices = 1}, {}, 3).find("no samples"), std::string::npos);
  EXPECT_NE(Refusal({.devices = 1}, std::vector<std::int32_t>{0}, 0).find("at least 1"), std::string::npos);
}

}  // namespace
}  // namespace tributary::inline policy
