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
  // A name of Partitioners(), or of `own`.
  std::string kind = "iid";
  // At least 1, at most one per sample.
  int devices = 10;
  // dirichlet, extended-dirichlet: above 0; smaller is more skewed: 0.1 is strong, 100 nearly even.
  double alpha = 0.5;
  // classes-per-device, extended-dirichlet: number of different classes per device.
  int classes_per_device = 2;
  // shards: number of contiguous runs of the label-sorted data per device.
  int shards_per_device = 2;
  // stratified: relative sizes of the devices' parts, in every class; empty: equal. See CheckSpeeds.
  std::vector<double> speeds;
  // The same options and seed give the same partition on every machine.
  std::uint64_t seed = 0;
  // An extension of the program; null for a built-in partitioner.
  std::shared_ptr<const Partitioner> own{};
};

// The input of a partitioner.
struct PartitionScene {
  const SplitOptions& options;           // at least one device, and at most one per sample
  std::span<const std::int32_t> labels;  // of every sample, in [0, classes)
  int classes;
  std::span<const std::uint32_t> sources;  // of every sample; empty if unknown
  const SamplesByClass& groups;
  Rng& rng;  // from options.seed

  std::size_t devices() const { return static_cast<std::size_t>(options.devices); }
};

// A partitioner and its name in experiment files: `[data] split = "NAME"`.
struct Partitioner {
  std::string name;
  // Places every sample on exactly one device, in ascending order. Must draw only from the scene's rng.
  std::function<StatusOr<Partition>(const PartitionScene&)> make;
  // Valid keys of data.split: "alpha", "classes-per-device", "shards-per-device", "sizes" (options.speeds).
  std::vector<std::string> keys{};

  bool Uses(std::string_view key) const { return std::ranges::find(keys, key) != keys.end(); }
};

// The built-in partitioners that use no features, in display order.
const std::vector<std::shared_ptr<const Partitioner>>& Partitioners();
// Their names.
const std::vector<std::string>& SplitKinds();

// Places every sample on exactly one device. `labels[i]` is the class of sample i, in [0, classes).
// `sources[i]` is its source, from 0, for the kind "source"; empty if unknown.
//
// No device is empty, except with "dirichlet". Refuses invalid options and labels.
StatusOr<Partition> MakeSplit(const SplitOptions& options, std::span<const std::int32_t> labels, int classes,
                              std::span<const std::uint32_t> sources = {});

}  // namespace tributary::inline policy
