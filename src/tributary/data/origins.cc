#include "tributary/data/origins.h"

#include <algorithm>
#include <numeric>

namespace tributary {

Origins Origins::Select(std::span<const std::uint32_t> indices) const {
  Origins chosen{names, {}, {}};
  for (const std::uint32_t index : indices) {
    chosen.sources.push_back(sources[index]);
    chosen.recorded.push_back(recorded[index]);
  }
  return chosen;
}

std::vector<std::uint32_t> RecordedOrder(const Origins& origins, std::span<const std::uint32_t> samples) {
  std::vector<std::uint32_t> order(samples.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t place) { return origins.recorded[samples[place]]; });
  return order;
}

}  // namespace tributary
