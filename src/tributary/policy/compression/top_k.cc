#include "tributary/policy/compression/top_k.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "tributary/base/check.h"
#include "tributary/policy/compression/float_bits.h"

namespace tributary::inline policy {
namespace {

constexpr std::size_t kLine = 16;   // floats per cache line; a sample takes whole lines
constexpr std::size_t kOneIn = 64;  // one line of 64 is sampled
constexpr std::size_t kShort = 1 << 15;
constexpr std::size_t kBitmapBlock = 64;

static_assert(std::endian::native == std::endian::little,
              "eight bytes are read as one number, the first lowest");

// Bit i is set if values[i] has at least this key. The comparisons vectorise to bytes of 0 or 1; the product
// packs eight of them into its upper byte.
std::uint64_t ReachMask(const float* values, std::int32_t least) {
  std::array<std::uint8_t, kBitmapBlock> reach;
  for (std::size_t i = 0; i < kBitmapBlock; ++i) reach[i] = MagnitudeKey(values[i]) >= least ? 1 : 0;
  std::uint64_t mask = 0;
  for (std::size_t byte = 0; byte < kBitmapBlock / 8; ++byte) {
    std::uint64_t eight;
    std::memcpy(&eight, reach.data() + 8 * byte, 8);
    mask |= ((eight * 0x0102040810204080U) >> 56) << (8 * byte);
  }
  return mask;
}

// How many keys are above the threshold's, and how many are equal to it.
std::pair<std::size_t, std::size_t> CountAgainst(std::span<const float> values, std::int32_t key) {
  std::size_t above = 0, equal = 0;
  for (std::size_t begin = 0; begin < values.size(); begin += std::size_t{1} << 30) {
    std::int32_t above_here = 0, equal_here = 0;  // as wide as the keys, so that counting vectorises
    for (const float value : values.subspan(begin, std::min(std::size_t{1} << 30, values.size() - begin))) {
      above_here += MagnitudeKey(value) > key ? 1 : 0;
      equal_here += MagnitudeKey(value) == key ? 1 : 0;
    }
    above += static_cast<std::size_t>(above_here);
    equal += static_cast<std::size_t>(equal_here);
  }
  return {above, equal};
}

// One level of the search. Keys count if their bits above the level are `prefix`. Other keys go to an extra
// slot, which is cheaper than an unpredictable branch.
struct Level {
  int shift;
  int bits;
};
constexpr Level kLevels[] = {{20, 11}, {10, 10}, {0, 10}};
constexpr std::size_t kSlots = 2049;
// Neighbours often fall into the same slot: with a table each, they do not wait for each other.
constexpr std::size_t kLanes = 4;

using Counts = std::array<std::size_t, kSlots>;

void Count(std::span<const float> values, Level level, std::int32_t prefix, Counts& counts) {
  std::array<std::array<std::uint32_t, kSlots>, kLanes> lanes{};
  const int above = level.shift + level.bits;
  const std::uint32_t mask = (1U << level.bits) - 1;
  const auto slot = [&](float value) -> std::size_t {
    const auto key = static_cast<std::uint32_t>(MagnitudeKey(value));
    const bool counts_here = above >= 31 || (key >> above) == static_cast<std::uint32_t>(prefix);
    return counts_here ? (key >> level.shift) & mask : kSlots - 1;
  };
  std::size_t i = 0;
  for (; i + kLanes <= values.size(); i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) ++lanes[lane][slot(values[i + lane])];
  }
  for (; i < values.size(); ++i) ++lanes[0][slot(values[i])];
  for (std::size_t s = 0; s < kSlots; ++s) {
    counts[s] = std::size_t{lanes[0][s]} + lanes[1][s] + lanes[2][s] + lanes[3][s];
  }
}

constexpr std::size_t kSquaresPart = std::size_t{1} << 20;
constexpr std::size_t kSums = 16;  // enough independent sums to keep vector units busy

double SumOfPart(std::span<const float> values) {
  std::array<double, kSums> lanes{};
  std::size_t i = 0;
  for (; i + kSums <= values.size(); i += kSums) {
    for (std::size_t lane = 0; lane < kSums; ++lane) {
      const auto value = static_cast<double>(values[i + lane]);
      lanes[lane] += value * value;
    }
  }
  for (; i < values.size(); ++i)
    lanes[i % kSums] += static_cast<double>(values[i]) * static_cast<double>(values[i]);
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

}  // namespace

TopKSelector::TopKSelector(ParallelFor parallel, std::size_t part)
    : parallel_(std::move(parallel)), part_((part + kBitmapBlock - 1) / kBitmapBlock * kBitmapBlock) {
  TRIBUTARY_CHECK(parallel_ && part_ > 0);
}

Status TopKSelector::Select(std::span<const float> values, std::size_t k, Selection& selection) {
  TRIBUTARY_CHECK(k <= values.size() && values.size() <= std::numeric_limits<std::uint32_t>::max());
  std::vector<Source> sources;
  if (k > 0 && GatherCandidates(values, k)) {
    for (const Candidates& part : candidates_) {
      sources.push_back({std::span(part.values).first(part.count), part.indices.data(), 0});
    }
  } else {
    for (std::size_t begin = 0; begin < values.size(); begin += part_) {
      sources.push_back({values.subspan(begin, std::min(part_, values.size() - begin)), nullptr,
                         static_cast<std::uint32_t>(begin)});
    }
  }
  Emit(sources, k, selection);
  // NaN is larger than everything, so any NaN is selected.
  for (std::size_t i = 0; i < k; ++i) {
    if (MagnitudeKey(selection.values[i]) > kInfinityKey) {
      return Corrupt("element " + std::to_string(selection.indices[i]) + " of the gradient is not a number");
    }
  }
  return OkStatus();
}

bool TopKSelector::GatherCandidates(std::span<const float> values, std::size_t k) {
  const std::size_t n = values.size();
  if (n < kShort || k > n / 4) return false;
  // One line of every 64, at pseudo-random places, so that a periodic vector does not bias the sample.
  sample_.clear();
  std::uint32_t place = 1;
  for (std::size_t group = 0; group + kLine * kOneIn <= n; group += kLine * kOneIn) {
    place = place * 1664525U + 1013904223U;
    const float* const line = values.data() + group + kLine * (place >> 26);
    sample_.insert(sample_.end(), line, line + kLine);
  }
  // Neighbours are correlated, so the rank is much less certain than for independent draws.
  const double expected =
      static_cast<double>(sample_.size()) * static_cast<double>(k) / static_cast<double>(n);
  const auto rank = static_cast<std::size_t>(expected + 6 * std::sqrt(expected)) + kLine;
  if (rank > sample_.size() / 2) return false;
  const std::span<const float> sample(sample_);
  const std::int32_t least = FindThreshold({&sample, 1}, rank).key;
  const auto [above, equal] = CountAgainst(sample, least);
  if (above + equal > 2 * rank) return false;  // too many equal values

  candidates_.resize((n + part_ - 1) / part_);
  parallel_(candidates_.size(), [&](std::size_t part) {
    const std::size_t begin = part * part_;
    Filter(values.subspan(begin, std::min(part_, n - begin)), static_cast<std::uint32_t>(begin), least,
           candidates_[part]);
  });
  std::size_t found = 0;
  for (const Candidates& part : candidates_) found += part.count;
  return found >= k;
}

void TopKSelector::Filter(std::span<const float> values, std::uint32_t first, std::int32_t least,
                          Candidates& out) {
  std::size_t count = 0;
  const auto keep = [&](std::size_t i) {
    out.indices[count] = first + static_cast<std::uint32_t>(i);
    out.values[count] = values[i];
    ++count;
  };
  for (std::size_t block = 0; block < values.size(); block += kBitmapBlock) {
    if (count + kBitmapBlock > out.indices.size()) {
      const std::size_t room = std::max(2 * out.indices.size(), std::size_t{1024});
      out.indices.resize(room);
      out.values.resize(room);
    }
    if (values.size() - block < kBitmapBlock) {
      for (std::size_t i = block; i < values.size(); ++i) {
        if (MagnitudeKey(values[i]) >= least) keep(i);
      }
      break;
    }
    for (std::uint64_t mask = ReachMask(values.data() + block, least); mask != 0; mask &= mask - 1) {
      keep(block + static_cast<std::size_t>(std::countr_zero(mask)));
    }
  }
  out.count = count;
}

void TopKSelector::Emit(std::span<const Source> sources, std::size_t k, Selection& selection) const {
  selection.indices.resize(k);
  selection.values.resize(k);
  if (k == 0) return;
  std::vector<std::span<const float>> parts;
  for (const Source& source : sources) parts.push_back(source.values);
  const Threshold threshold = FindThreshold(parts, k, parallel_);

  struct Share {
    std::size_t above, ties, offset;
  };
  std::vector<Share> shares(sources.size());
  parallel_(sources.size(), [&](std::size_t i) {
    const auto [above, equal] = CountAgainst(sources[i].values, threshold.key);
    shares[i] = {above, equal, 0};
  });
  std::size_t offset = 0, ties = threshold.ties;
  for (Share& share : shares) {
    share.ties = std::min(share.ties, ties);
    share.offset = offset;
    ties -= share.ties;
    offset += share.above + share.ties;
  }
  TRIBUTARY_CHECK(offset == k && ties == 0);
  parallel_(sources.size(), [&](std::size_t part) {
    const Source& source = sources[part];
    auto [above, ties_left, begin] = shares[part];
    std::uint32_t* const indices = selection.indices.data() + begin;
    float* const values = selection.values.data() + begin;
    const std::size_t count = above + ties_left;
    // Every element is written to the next place and stays if it is selected: no unpredictable branch.
    for (std::size_t i = 0, n = 0; n < count; ++i) {
      const std::int32_t key = MagnitudeKey(source.values[i]);
      const std::size_t tie =
          static_cast<std::size_t>(key == threshold.key) & static_cast<std::size_t>(ties_left != 0);
      indices[n] =
          source.indices != nullptr ? source.indices[i] : source.first + static_cast<std::uint32_t>(i);
      values[n] = source.values[i];
      ties_left -= tie;
      n += static_cast<std::size_t>(key > threshold.key) + tie;
    }
  });
}

Threshold FindThreshold(std::span<const std::span<const float>> parts, std::size_t k,
                        const ParallelFor& parallel) {
  TRIBUTARY_CHECK(k > 0);
  std::vector<Counts> counts(parts.size());
  Threshold found{0, k};
  for (const Level level : kLevels) {
    parallel(parts.size(), [&](std::size_t part) { Count(parts[part], level, found.key, counts[part]); });
    // From the largest slot down to the slot that holds the k-th.
    std::int32_t slot = 1 << level.bits;
    for (std::size_t here = 0;;) {
      TRIBUTARY_CHECK(--slot >= 0);
      here = 0;
      for (const Counts& part : counts) here += part[static_cast<std::size_t>(slot)];
      if (here >= found.ties) break;
      found.ties -= here;
    }
    found.key = (found.key << level.bits) | slot;
  }
  return found;
}

double SumOfSquares(std::span<const float> values, const ParallelFor& parallel) {
  if (values.size() <= kSquaresPart) return SumOfPart(values);
  std::vector<double> parts((values.size() + kSquaresPart - 1) / kSquaresPart);
  parallel(parts.size(), [&](std::size_t part) {
    const std::size_t begin = part * kSquaresPart;
    parts[part] = SumOfPart(values.subspan(begin, std::min(kSquaresPart, values.size() - begin)));
  });
  double sum = 0;
  for (const double part : parts) sum += part;
  return sum;
}

}  // namespace tributary::inline policy
