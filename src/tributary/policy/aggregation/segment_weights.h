#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>

namespace tributary {

// How much weight lies on each element of a buffer, kept as the few runs that have the same: updates arrive
// in segments of layers, and one that is cut off half-way has covered only some of them. Weights are integers
// in a unit of the caller's, so that sums are exact. Costs a few words per distinct border of a segment,
// whatever the size.
//
// Ranges must lie within the size. For one thread.
class SegmentWeights {
 public:
  explicit SegmentWeights(std::size_t size);

  // A run of elements that carry the same weight.
  struct Run {
    std::size_t offset;
    std::size_t count;
    std::int64_t weight;
  };

  void Add(std::size_t offset, std::size_t count, std::int64_t weight);
  void Merge(const SegmentWeights& other);  // Of the same size.

  // The largest and the smallest weight in a range, which must not be empty.
  std::int64_t Largest(std::size_t offset, std::size_t count) const;
  std::int64_t Smallest(std::size_t offset, std::size_t count) const;

  // Calls visit(Run) for the runs that make up a range, in order.
  template <typename Visit>
  void ForEach(std::size_t offset, std::size_t count, Visit&& visit) const {
    const std::size_t end = offset + count;
    while (offset < end) {
      const auto next = starts_.upper_bound(offset);
      const std::size_t stop = next == starts_.end() || next->first > end ? end : next->first;
      visit(Run{offset, stop - offset, std::prev(next)->second});
      offset = stop;
    }
  }

  std::size_t size() const { return size_; }

 private:
  // Makes a run start at `offset`, without changing any weight.
  void Split(std::size_t offset);

  std::size_t size_;
  std::map<std::size_t, std::int64_t> starts_;  // Where each run starts, and its weight.
};

}  // namespace tributary
