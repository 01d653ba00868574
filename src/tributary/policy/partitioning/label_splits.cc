#include "tributary/policy/partitioning/label_splits.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "tributary/base/apportion.h"
#include "tributary/base/check.h"
#include "tributary/base/distributions.h"

namespace tributary::inline policy {
namespace {

std::vector<std::size_t> EveryDevice(std::size_t devices) {
  std::vector<std::size_t> every(devices);
  std::iota(every.begin(), every.end(), std::size_t{0});
  return every;
}

Status CheckPlaces(std::size_t present, std::size_t devices, std::size_t per_device) {
  if (per_device > present) {
    return InvalidArgument("each device needs " + std::to_string(per_device) + " classes, but only " +
                           std::to_string(present) + " classes have samples; ask for at most that many");
  }
  if (devices * per_device < present) {
    return InvalidArgument(
        std::to_string(devices) + " devices with " + std::to_string(per_device) +
        " classes each have places for " + std::to_string(devices * per_device) + " classes, but " +
        std::to_string(present) +
        " classes have samples and some would be on no device; give more devices or more classes "
        "per device");
  }
  return OkStatus();
}

}  // namespace

Partition SplitIid(std::size_t samples, std::size_t devices, Rng& rng) {
  std::vector<std::uint32_t> all(samples);
  std::iota(all.begin(), all.end(), 0U);
  Partition partition(devices);
  Deal(all, DivideEvenly(samples, devices), EveryDevice(devices), rng, partition);
  return WithSortedIndices(std::move(partition));
}

Partition SplitStratified(const SamplesByClass& classes, std::span<const double> speeds, Rng& rng) {
  std::vector<std::size_t> sizes;
  for (const auto& samples : classes) sizes.push_back(samples.size());
  const std::vector<std::size_t> holders = EveryDevice(speeds.size());
  const auto quotas = SpeedQuotas(sizes, speeds);
  Partition partition(speeds.size());
  for (std::size_t c = 0; c < classes.size(); ++c) Deal(classes[c], quotas[c], holders, rng, partition);
  return WithSortedIndices(std::move(partition));
}

Partition SplitShards(const SamplesByClass& classes, std::size_t devices, std::size_t per_device, Rng& rng) {
  std::vector<std::uint32_t> sorted;
  for (const auto& samples : classes) sorted.insert(sorted.end(), samples.begin(), samples.end());

  const std::size_t shards = devices * per_device;
  std::vector<std::size_t> owners(shards);
  for (std::size_t i = 0; i < shards; ++i) owners[i] = i / per_device;
  Shuffle(rng, std::span(owners));

  const std::vector<std::size_t> sizes = DivideEvenly(sorted.size(), shards);
  Partition partition(devices);
  auto next = sorted.begin();
  for (std::size_t i = 0; i < shards; ++i) {
    const auto end = next + static_cast<std::ptrdiff_t>(sizes[i]);
    partition[owners[i]].insert(partition[owners[i]].end(), next, end);
    next = end;
  }
  return WithSortedIndices(std::move(partition));
}

Partition SplitDirichlet(const SamplesByClass& classes, std::size_t devices, double alpha, Rng& rng) {
  const std::vector<double> concentrations(devices, alpha);
  const std::vector<std::size_t> holders = EveryDevice(devices);
  Partition partition(devices);
  for (const auto& samples : classes) {
    const std::vector<double> shares = Dirichlet(rng, concentrations);
    Deal(samples, DivideByShares(samples.size(), shares), holders, rng, partition);
  }
  return WithSortedIndices(std::move(partition));
}

StatusOr<std::vector<std::vector<std::size_t>>> AssignClasses(const SamplesByClass& classes,
                                                              std::size_t devices, std::size_t per_device,
                                                              Rng& rng) {
  std::vector<std::size_t> present;
  for (std::size_t c = 0; c < classes.size(); ++c) {
    if (!classes[c].empty()) present.push_back(c);
  }
  TRIBUTARY_RETURN_IF_ERROR(CheckPlaces(present.size(), devices, per_device));

  // Places are divided evenly over the classes; the classes with one more are random.
  Shuffle(rng, std::span(present));
  const std::vector<std::size_t> even = DivideEvenly(devices * per_device, present.size());
  std::vector<std::size_t> left(classes.size(), 0);
  for (std::size_t i = 0; i < present.size(); ++i) left[present[i]] = even[i];
  for (const std::size_t c : present) {
    if (left[c] <= classes[c].size()) continue;
    return InvalidArgument("class " + std::to_string(c) + " would be held by " + std::to_string(left[c]) +
                           " devices but has only " + std::to_string(classes[c].size()) +
                           " samples; give fewer devices or fewer classes per device");
  }

  // Each device takes the classes with the most places left, ties at random. So the remaining places of
  // classes never differ by more than one, and no class keeps more places than there are devices left.
  std::vector<std::vector<std::size_t>> holders(classes.size());
  for (std::size_t device = 0; device < devices; ++device) {
    Shuffle(rng, std::span(present));
    std::ranges::stable_sort(present, [&](std::size_t a, std::size_t b) { return left[a] > left[b]; });
    for (std::size_t i = 0; i < per_device; ++i) {
      TRIBUTARY_CHECK(left[present[i]] > 0);
      --left[present[i]];
      holders[present[i]].push_back(device);
    }
  }
  for (auto& devices_of_class : holders) Shuffle(rng, std::span(devices_of_class));
  return holders;
}

StatusOr<Partition> SplitClassesPerDevice(const SamplesByClass& classes, std::size_t devices,
                                          std::size_t per_device, Rng& rng) {
  TRIBUTARY_ASSIGN_OR_RETURN(const auto holders, AssignClasses(classes, devices, per_device, rng));
  Partition partition(devices);
  for (std::size_t c = 0; c < classes.size(); ++c) {
    if (classes[c].empty()) continue;
    Deal(classes[c], DivideEvenly(classes[c].size(), holders[c].size()), holders[c], rng, partition);
  }
  return WithSortedIndices(std::move(partition));
}

StatusOr<Partition> SplitExtendedDirichlet(const SamplesByClass& classes, std::size_t devices,
                                           std::size_t per_device, double alpha, Rng& rng) {
  TRIBUTARY_ASSIGN_OR_RETURN(const auto holders, AssignClasses(classes, devices, per_device, rng));
  Partition partition(devices);
  for (std::size_t c = 0; c < classes.size(); ++c) {
    if (classes[c].empty()) continue;
    const std::vector<double> concentrations(holders[c].size(), alpha);
    const std::vector<double> shares = Dirichlet(rng, concentrations);
    std::vector<std::size_t> counts = DivideByShares(classes[c].size() - holders[c].size(), shares);
    for (std::size_t& count : counts) ++count;
    Deal(classes[c], counts, holders[c], rng, partition);
  }
  return WithSortedIndices(std::move(partition));
}

Partition SplitBySource(std::span<const std::uint32_t> sources, std::size_t devices) {
  Partition partition(devices);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    partition[sources[i] % devices].push_back(static_cast<std::uint32_t>(i));
  }
  return partition;
}

}  // namespace tributary::inline policy
