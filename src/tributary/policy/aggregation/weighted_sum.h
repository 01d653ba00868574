#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "tributary/base/check.h"
#include "tributary/base/mutex.h"
#include "tributary/base/status.h"

namespace tributary::inline policy {

// How much weight lies on each element of a buffer, kept as the few runs that have the same: updates arrive
// in segments of layers, and one that is cut off half-way has covered only some of them. Weights are integers
// in a unit of the caller's, so that sums are exact. Costs a few words per distinct border of a segment,
// whatever the size.
//
// Ranges must lie within the size. For one thread.
class SegmentWeights {
 public:
  explicit SegmentWeights(std::size_t size) : size_(size), starts_{{0, 0}} {}

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

// The weighted mean of many updates, as an exact algebra:
//
//   zero        a new WeightedSum, or Reset
//   accumulate  adds weight · value, for the whole or for any segment of it
//   retract     takes such a contribution back, exactly
//   merge       adds what another sum of the same shape has gathered
//   report      Mean: the sum over the weight, converted to float once
//
// Each product is rounded once, to a 64-bit integer; from there on everything is integer addition. So any
// order of contributions, any division into segments and any tree of merges give the same bits, and memory
// does not grow with the number of contributors.
//
// Precision. The unit is 2^(k−36), where 2^k is the smallest power of two that is not below the expected
// weight. A contribution is off by half a unit at most, hence a mean of n contributions of total weight W by
// n · 2^(k−37) / W, besides its own rounding to float: 1.5e-11 · n at most when everybody came. (Weights of
// more than 29 significant bits lose another 2⁻⁵³ of their product.) Values up to 2^24 in magnitude fit and
// larger ones are refused, which leaves a factor of eight before an integer could overflow.
//
// Weights are sample counts or any other finite numbers ≥ 0. They are summed per element, in integers of
// 2^(k−62): exact for whole numbers, and free of order for all. An element's mean is over those who sent that
// element, so a device that vanished in the middle of an upload counts where its segments arrived and nowhere
// else.
//
// Not synchronised: see ConcurrentWeightedSum. Ranges outside the size, a second contribution where the
// expected weight leaves no room, and merging sums of different shape are bugs.
class WeightedSum {
 public:
  static constexpr float kLargestValue = 0x1p24F;

  // For `size` values, from contributors whose weights sum to `expected_weight` (positive and finite) if all
  // come.
  WeightedSum(std::size_t size, double expected_weight);

  // Zero again, with the memory kept.
  void Reset(double expected_weight);

  // Whether these values may be accumulated. Names the first one that is not finite or too large, and its
  // place in the whole if the segment starts at `offset`. Touches no state, so a refused update leaves no
  // trace.
  static Status Check(std::span<const float> values, std::size_t offset = 0);

  // Adds weight · value to the elements from `offset`. Weight and values must have passed the checks: a value
  // that would not have spoils its element, and nothing else.
  void Accumulate(double weight, std::size_t offset, std::span<const float> values) {
    TRIBUTARY_CHECK(weight >= 0);
    AddSigned(weight, offset, values);
  }
  void Accumulate(double weight, std::span<const float> values) { Accumulate(weight, 0, values); }

  // Takes back an Accumulate of the same arguments: as if it had never been.
  void Retract(double weight, std::size_t offset, std::span<const float> values) {
    TRIBUTARY_CHECK(weight >= 0);
    AddSigned(-weight, offset, values);
  }

  // Both must have the same size and the same expected weight, which stands for all contributors of both.
  void Merge(const WeightedSum& other);

  // The mean of the elements from `offset`. Unavailable, and `out` untouched, if nobody contributed to one of
  // them.
  Status Mean(std::size_t offset, std::span<float> out) const;
  Status Mean(std::span<float> out) const { return Mean(0, out); }

  std::size_t size() const { return sums_.size(); }
  double expected_weight() const { return expected_weight_; }
  // The weight on every element of a range: the smallest, where they differ. Zero for an empty one.
  double Weight(std::size_t offset, std::size_t count) const;
  // The integers themselves, in units of 2^(k−36).
  std::span<const std::int64_t> sums() const { return sums_; }

 private:
  friend class ConcurrentWeightedSum;

  // A negative weight retracts. Its two halves are the weight of a range, and the values.
  void AddSigned(double weight, std::size_t offset, std::span<const float> values);
  void AddWeight(double weight, std::size_t offset, std::size_t count);
  void AddValues(double weight, std::size_t offset, std::span<const float> values);
  void CheckRoom(std::size_t offset, std::size_t count) const;

  double expected_weight_ = 0;
  int exponent_ = 0;  // k
  std::int64_t room_ = 0;
  std::vector<std::int64_t> sums_;
  SegmentWeights weights_;
};

// A WeightedSum into which any number of threads accumulate at once, with the bits that one thread would give
// in any order. One copy of the sums, whatever the number of threads; each block of them has a lock of its
// own, so threads that bring whole updates follow each other through the blocks instead of waiting for the
// whole.
//
// Only Accumulate and Retract may be called from several threads; whoever reads or resets the sum must know that all have
// returned.
class ConcurrentWeightedSum {
 public:
  ConcurrentWeightedSum(std::size_t size, double expected_weight);

  // As WeightedSum::Accumulate.
  void Accumulate(double weight, std::size_t offset, std::span<const float> values) {
    TRIBUTARY_CHECK(weight >= 0);
    AddSigned(weight, offset, values);
  }
  void Accumulate(double weight, std::span<const float> values) { Accumulate(weight, 0, values); }

  // As WeightedSum::Retract.
  void Retract(double weight, std::size_t offset, std::span<const float> values) {
    TRIBUTARY_CHECK(weight >= 0);
    AddSigned(-weight, offset, values);
  }

  // For everything else: checks, merging, the mean, the next round.
  WeightedSum& sum() { return sum_; }
  const WeightedSum& sum() const { return sum_; }

 private:
  void AddSigned(double weight, std::size_t offset, std::span<const float> values);

  // Parts of it have different mutexes, which annotations cannot express: its weights the first, each block of its values
  // one of the others.
  WeightedSum sum_;
  Mutex weights_;
  std::unique_ptr<Mutex[]> blocks_;
};

}  // namespace tributary::inline policy
