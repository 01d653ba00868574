#include "tributary/policy/partitioning/split.h"

#include <algorithm>
#include <cmath>

#include "tributary/base/check.h"
#include "tributary/base/names.h"
#include "tributary/policy/partitioning/label_splits.h"
#include "tributary/policy/partitioning/quotas.h"

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

StatusOr<Partition> MakeSplitBySource(std::span<const std::uint32_t> sources, std::size_t samples,
                                      std::size_t devices) {
  if (sources.size() != samples) {
    return InvalidArgument(
        "the split 'source' keeps together what came from one person or sensor, and these data do not say "
        "where "
        "samples come from; recordings do (har, or a folder of .csv files for each person)");
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

}  // namespace

const std::vector<std::string>& SplitKinds() {
  static const std::vector<std::string> kinds = {
      "iid", "stratified", "dirichlet", "classes-per-device", "extended-dirichlet", "shards", "source"};
  return kinds;
}

StatusOr<Partition> MakeSplit(const SplitOptions& options, std::span<const std::int32_t> labels, int classes,
                              std::span<const std::uint32_t> sources) {
  const auto& kinds = SplitKinds();
  if (std::find(kinds.begin(), kinds.end(), options.kind) == kinds.end()) {
    return UnknownName("split", options.kind, kinds);
  }
  TRIBUTARY_RETURN_IF_ERROR(CheckLabels(labels, classes));
  TRIBUTARY_RETURN_IF_ERROR(CheckDevices(options.devices, labels.size()));

  const auto devices = static_cast<std::size_t>(options.devices);
  if (options.kind == "source") return MakeSplitBySource(sources, labels.size(), devices);
  const SamplesByClass groups = GroupByClass(labels, classes);
  Rng rng = Rng::ForStream(options.seed, DeviceId{0}, "split");
  if (options.kind == "iid") return SplitIid(labels.size(), devices, rng);
  if (options.kind == "stratified") {
    const std::vector<double> speeds =
        options.speeds.empty() ? std::vector<double>(devices, 1.0) : options.speeds;
    TRIBUTARY_CHECK(speeds.size() == devices);
    TRIBUTARY_RETURN_IF_ERROR(CheckSpeeds(speeds, labels.size()));
    return SplitStratified(groups, speeds, rng);
  }
  if (options.kind == "shards") {
    TRIBUTARY_RETURN_IF_ERROR(CheckShards(options, labels.size()));
    return SplitShards(groups, devices, static_cast<std::size_t>(options.shards_per_device), rng);
  }
  if (options.kind == "dirichlet") {
    TRIBUTARY_RETURN_IF_ERROR(CheckAlpha(options.alpha));
    return SplitDirichlet(groups, devices, options.alpha, rng);
  }
  TRIBUTARY_RETURN_IF_ERROR(CheckClassesPerDevice(options.classes_per_device, classes));
  const auto per_device = static_cast<std::size_t>(options.classes_per_device);
  if (options.kind == "classes-per-device") return SplitClassesPerDevice(groups, devices, per_device, rng);
  TRIBUTARY_RETURN_IF_ERROR(CheckAlpha(options.alpha));
  return SplitExtendedDirichlet(groups, devices, per_device, options.alpha, rng);
}

}  // namespace tributary::inline policy
