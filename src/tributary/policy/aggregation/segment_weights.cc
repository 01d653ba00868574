#include "tributary/policy/aggregation/segment_weights.h"

#include <algorithm>
#include <limits>

#include "tributary/base/check.h"

namespace tributary {

SegmentWeights::SegmentWeights(std::size_t size) : size_(size), starts_{{0, 0}} {}

void SegmentWeights::Add(std::size_t offset, std::size_t count, std::int64_t weight) {
  TRIBUTARY_CHECK(offset <= size_ && count <= size_ - offset);
  if (count == 0 || weight == 0) return;
  Split(offset);
  Split(offset + count);
  for (auto run = starts_.find(offset); run != starts_.end() && run->first < offset + count; ++run) {
    run->second += weight;
  }
}

void SegmentWeights::Merge(const SegmentWeights& other) {
  TRIBUTARY_CHECK(size_ == other.size_);
  other.ForEach(0, size_, [this](Run run) { Add(run.offset, run.count, run.weight); });
}

std::int64_t SegmentWeights::Largest(std::size_t offset, std::size_t count) const {
  std::int64_t largest = std::numeric_limits<std::int64_t>::min();
  ForEach(offset, count, [&](Run run) { largest = std::max(largest, run.weight); });
  return largest;
}

std::int64_t SegmentWeights::Smallest(std::size_t offset, std::size_t count) const {
  std::int64_t smallest = std::numeric_limits<std::int64_t>::max();
  ForEach(offset, count, [&](Run run) { smallest = std::min(smallest, run.weight); });
  return smallest;
}

void SegmentWeights::Split(std::size_t offset) {
  if (offset == size_) return;
  const auto next = starts_.upper_bound(offset);
  starts_.emplace_hint(next, offset, std::prev(next)->second);  // Does nothing where one starts already.
}

}  // namespace tributary
