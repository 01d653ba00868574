#include "tributary/model/kept_counts.h"

#include <algorithm>
#include <cmath>

#include "tributary/base/check.h"

namespace tributary {

std::vector<std::int64_t> KeptCounts(const ChannelGroups& groups, std::span<const double> rates,
                                     std::int64_t lanes) {
  TRIBUTARY_CHECK(rates.size() == groups.groups.size() && lanes >= 1);
  std::vector<std::int64_t> kept;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    TRIBUTARY_CHECK(rates[i] >= 0 && rates[i] < 1);
    const ChannelGroups::Group& group = groups.groups[i];
    // Where atoms are of several channels, a multiple of fewer of them fills the lanes.
    const std::int64_t each =
        std::max<std::int64_t>(1, group.channels / std::max<std::int64_t>(1, group.atoms));
    const std::int64_t step = std::max<std::int64_t>(1, lanes / each);
    const double left = (1 - rates[i]) * static_cast<double>(group.atoms) / static_cast<double>(step);
    const std::int64_t steps = std::max<std::int64_t>(1, std::llround(left));
    kept.push_back(std::min(steps * step, group.atoms));
  }
  return kept;
}

std::vector<double> RatesOf(const ChannelGroups& groups, std::span<const std::int64_t> kept) {
  TRIBUTARY_CHECK(kept.size() == groups.groups.size());
  std::vector<double> rates;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    rates.push_back(1 - static_cast<double>(kept[i]) / static_cast<double>(groups.groups[i].atoms));
  }
  return rates;
}

}  // namespace tributary
