#include "zipf_partitioner.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace {

using namespace tributary;

StatusOr<Partition> DivideByRank(const PartitionScene& scene) {
  std::vector<std::uint32_t> samples(scene.labels.size());
  std::iota(samples.begin(), samples.end(), 0U);
  for (std::size_t i = samples.size(); i > 1; --i) std::swap(samples[i - 1], samples[scene.rng.Below(i)]);

  double total = 0;
  for (std::size_t i = 0; i < scene.devices(); ++i) total += 1.0 / static_cast<double>(i + 1);
  Partition partition(scene.devices());
  auto next = samples.begin();
  for (std::size_t i = scene.devices(); i-- > 0;) {
    // Leaves at least one sample for each device that follows; the last one, device 0, gets the rest.
    const std::size_t left = static_cast<std::size_t>(samples.end() - next);
    const double share = static_cast<double>(samples.size()) / (static_cast<double>(i + 1) * total);
    const std::size_t count =
        i == 0 ? left : std::clamp<std::size_t>(static_cast<std::size_t>(share), 1, left - i);
    partition[i].assign(next, next + static_cast<std::ptrdiff_t>(count));
    std::sort(partition[i].begin(), partition[i].end());
    next += static_cast<std::ptrdiff_t>(count);
  }
  return partition;
}

}  // namespace

tributary::Partitioner ZipfPartitioner() { return {.name = "zipf", .make = DivideByRank}; }
