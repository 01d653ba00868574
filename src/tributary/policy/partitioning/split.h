#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/policy/partitioning/partition.h"

namespace tributary::inline policy {

struct Partitioner;

// How a data set is divided over devices. Fields that a kind does not use are ignored.
struct SplitOptions {
  // The name of one of Partitioners(), or of `own`.
  std::string kind = "iid";
  // More devices make each one's part smaller. At least 1, at most one per sample.
  int devices = 10;
  // dirichlet, extended-dirichlet: smaller is more skewed; 0.1 is strong, 100 nearly even. Finite and above
  // 0.
  double alpha = 0.5;
  // classes-per-device, extended-dirichlet: how many different classes each device sees.
  int classes_per_device = 2;
  // shards: how many runs of the label-sorted data each device is dealt.
  int shards_per_device = 2;
  // stratified: how large devices' parts are against each other, in every class; empty: all alike. Checked as by CheckSpeeds.
  std::vector<double> speeds;
  // The same options with the same seed give the same partition on every machine.
  std::uint64_t seed = 0;
  // A partitioner that the program was given; null for a built-in one.
  std::shared_ptr<const Partitioner> own{};
};

// What a partitioner may look at.
struct PartitionScene {
  const SplitOptions& options;           // at least one device, and at most one per sample
  std::span<const std::int32_t> labels;  // of every sample, in [0, classes)
  int classes;
  std::span<const std::uint32_t> sources;  // of every sample; empty if the data do not say
  const SamplesByClass& groups;
  Rng& rng;  // from options.seed

  std::size_t devices() const { return static_cast<std::size_t>(options.devices); }
};

// A way to divide samples over devices, under the name that experiments call it by: `[data] split = "NAME"`.
struct Partitioner {
  std::string name;
  // Places every sample on exactly one device, in ascending order. Uses no randomness but the scene's.
  std::function<StatusOr<Partition>(const PartitionScene&)> make;
  // The keys of data.split that it uses: "alpha", "classes-per-device", "shards-per-device", "sizes" (options.speeds).
  std::vector<std::string> keys{};

  bool Uses(std::string_view key) const { return std::ranges::find(keys, key) != keys.end(); }
};

// The built-in partitioners that look at no features, in the order they are shown to people.
const std::vector<std::shared_ptr<const Partitioner>>& Partitioners();
// Their names.
const std::vector<std::string>& SplitKinds();

// Places every sample on exactly one device. `labels[i]` is the class of sample i, in [0, classes). `sources[i]` is where
// it came from, counted from 0, for the kind "source"; empty for data that do not say.
//
// No device is empty, except under "dirichlet", which may leave devices without samples. Options or labels
// that make no sense are refused with what was found and what is allowed.
StatusOr<Partition> MakeSplit(const SplitOptions& options, std::span<const std::int32_t> labels, int classes,
                              std::span<const std::uint32_t> sources = {});

}  // namespace tributary::inline policy
