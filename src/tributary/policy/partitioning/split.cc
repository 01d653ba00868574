#include "tributary/policy/partitioning/split.h"

#include <cmath>

#include "tributary/base/check.h"
#include "tributary/base/names.h"
#include "tributary/policy/partitioning/label_splits.h"

namespace tributary::inline policy {
namespace {

Status CheckDevices(int devices, std::size_t samples) {
  if (devices >= 1 && static_cast<std::size_t>(devices) <= samples) return OkStatus();
  return InvalidArgument("the number of devices must be from 1 to the number of samples, " +
                         std::to_string(samples) + "; found " + std::to_string(devices));
}

Status CheckAlpha(double alpha) {
  if (std::isfinite(alpha) && alpha > 0) return OkStatus();
  return InvalidArgument("alpha must be a finite number above 0, found " + std::to_string(alpha));
}

Status CheckClassesPerDevice(int per_device, int classes) {
  if (per_device >= 1 && per_device <= classes) return OkStatus();
  return InvalidArgument("classes per device must be from 1 to the number of classes, " +
                         std::to_string(classes) + "; found " + std::to_string(per_device));
}

Status CheckShards(const SplitOptions& options, std::size_t samples) {
  const std::size_t most = samples / static_cast<std::size_t>(options.devices);
  if (options.shards_per_device >= 1 && static_cast<std::size_t>(options.shards_per_device) <= most) {
    return OkStatus();
  }
  return InvalidArgument("shards per device must be from 1 to " + std::to_string(most) + " (" +
                         std::to_string(samples) + " samples over " + std::to_string(options.devices) +
                         " devices, none of them empty); found " + std::to_string(options.shards_per_device));
}

StatusOr<Partition> MakeSplitBySource(const PartitionScene& scene) {
  const auto sources = scene.sources;
  const std::size_t devices = scene.devices();
  if (sources.size() != scene.labels.size()) {
    return InvalidArgument(
        "the split 'source' keeps the samples of a person or sensor together, and these data do not say "
        "where samples come from; recordings do (har, or a folder of .csv files for each person)");
  }
  Partition partition = SplitBySource(sources, devices);
  const auto empty = std::ranges::find_if(partition, [](const auto& device) { return device.empty(); });
  if (empty == partition.end()) return partition;
  return InvalidArgument("the split 'source' gives each device whole sources; there are " +
                         std::to_string(*std::ranges::max_element(sources) + 1) + " sources for " +
                         std::to_string(devices) + " devices, and device " +
                         std::to_string(empty - partition.begin()) +
                         " would have no samples; ask for as many devices as there are sources, or fewer");
}

StatusOr<Partition> MakeStratifiedSplit(const PartitionScene& scene) {
  const std::vector<double> speeds =
      scene.options.speeds.empty() ? std::vector<double>(scene.devices(), 1.0) : scene.options.speeds;
  TRIBUTARY_CHECK(speeds.size() == scene.devices());
  TRIBUTARY_RETURN_IF_ERROR(CheckSpeeds(speeds, scene.labels.size()));
  return SplitStratified(scene.groups, speeds, scene.rng);
}

StatusOr<Partition> MakeDirichletSplit(const PartitionScene& scene) {
  TRIBUTARY_RETURN_IF_ERROR(CheckAlpha(scene.options.alpha));
  return SplitDirichlet(scene.groups, scene.devices(), scene.options.alpha, scene.rng);
}

StatusOr<Partition> MakeClassesSplit(const PartitionScene& scene) {
  TRIBUTARY_RETURN_IF_ERROR(CheckClassesPerDevice(scene.options.classes_per_device, scene.classes));
  const auto per_device = static_cast<std::size_t>(scene.options.classes_per_device);
  return SplitClassesPerDevice(scene.groups, scene.devices(), per_device, scene.rng);
}

StatusOr<Partition> MakeExtendedDirichletSplit(const PartitionScene& scene) {
  TRIBUTARY_RETURN_IF_ERROR(CheckClassesPerDevice(scene.options.classes_per_device, scene.classes));
  TRIBUTARY_RETURN_IF_ERROR(CheckAlpha(scene.options.alpha));
  const auto per_device = static_cast<std::size_t>(scene.options.classes_per_device);
  return SplitExtendedDirichlet(scene.groups, scene.devices(), per_device, scene.options.alpha, scene.rng);
}

StatusOr<Partition> MakeShardsSplit(const PartitionScene& scene) {
  TRIBUTARY_RETURN_IF_ERROR(CheckShards(scene.options, scene.labels.size()));
  const auto per_device = static_cast<std::size_t>(scene.options.shards_per_device);
  return SplitShards(scene.groups, scene.devices(), per_device, scene.rng);
}

// Checks the result of an extension: every sample on exactly one device, and the requested number of devices.
Status CheckPartition(const std::string& name, const Partition& partition, const PartitionScene& scene) {
  std::vector<bool> placed(scene.labels.size());
  std::size_t count = 0;
  bool right = partition.size() == scene.devices();
  for (const auto& device : partition) {
    right = right && std::ranges::is_sorted(device);
    for (const std::uint32_t sample : device) {
      if (sample >= placed.size() || placed[sample]) right = false;
      if (!right) break;
      placed[sample] = true;
      ++count;
    }
  }
  if (right && count == placed.size()) return OkStatus();
  return InvalidArgument("the partitioner '" + name + "' must place every sample on exactly one of " +
                         std::to_string(scene.devices()) + " devices, in ascending order");
}

}  // namespace

const std::vector<std::shared_ptr<const Partitioner>>& Partitioners() {
  static const auto kPartitioners = [] {
    std::vector<std::shared_ptr<const Partitioner>> all;
    for (Partitioner& one : std::vector<Partitioner>{
             {"iid",
              [](const PartitionScene& scene) -> StatusOr<Partition> {
                return SplitIid(scene.labels.size(), scene.devices(), scene.rng);
              }},
             {"stratified", MakeStratifiedSplit, {"sizes"}},
             {"dirichlet", MakeDirichletSplit, {"alpha"}},
             {"classes-per-device", MakeClassesSplit, {"classes-per-device"}},
             {"extended-dirichlet", MakeExtendedDirichletSplit, {"alpha", "classes-per-device"}},
             {"shards", MakeShardsSplit, {"shards-per-device"}},
             {"source", MakeSplitBySource}}) {
      all.push_back(std::make_shared<const Partitioner>(std::move(one)));
    }
    return all;
  }();
  return kPartitioners;
}

const std::vector<std::string>& SplitKinds() {
  static const auto kKinds = [] {
    std::vector<std::string> names;
    for (const auto& one : Partitioners()) names.push_back(one->name);
    return names;
  }();
  return kKinds;
}

StatusOr<Partition> MakeSplit(const SplitOptions& options, std::span<const std::int32_t> labels, int classes,
                              std::span<const std::uint32_t> sources) {
  const auto& all = Partitioners();
  const auto found = std::ranges::find(all, options.kind, [](const auto& one) { return one->name; });
  if (!options.own && found == all.end()) return UnknownName("split", options.kind, SplitKinds());
  TRIBUTARY_RETURN_IF_ERROR(CheckLabels(labels, classes));
  TRIBUTARY_RETURN_IF_ERROR(CheckDevices(options.devices, labels.size()));
  const SamplesByClass groups = GroupByClass(labels, classes);
  Rng rng = Rng::ForStream(options.seed, DeviceId{0}, "split");
  const PartitionScene scene{options, labels, classes, sources, groups, rng};
  if (!options.own) return (*found)->make(scene);
  TRIBUTARY_ASSIGN_OR_RETURN(Partition partition, options.own->make(scene));
  TRIBUTARY_RETURN_IF_ERROR(CheckPartition(options.kind, partition, scene));
  return partition;
}

}  // namespace tributary::inline policy
