#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tributary/base/clock.h"

namespace tributary {

// Where samples come from and when each was there, for data that somebody recorded over time: a person's phone, a
// machine's sensor. One number and one time per sample.
struct Origins {
  std::vector<std::string> names;      // Of the sources, for people.
  std::vector<std::uint32_t> sources;  // Of each sample: an index into the names.
  // When each sample was complete, counted from the first reading of its source. Sources of different days thus begin
  // together.
  std::vector<Duration> recorded;

  // Those of these samples only, in this order.
  Origins Select(std::span<const std::uint32_t> indices) const;

  friend bool operator==(const Origins&, const Origins&) = default;
};

// Samples in the order in which they were recorded: places in `samples`, which holds indices into the data set. Of those
// complete at the same moment, the one that comes first in `samples` is first.
std::vector<std::uint32_t> RecordedOrder(const Origins& origins, std::span<const std::uint32_t> samples);

}  // namespace tributary
