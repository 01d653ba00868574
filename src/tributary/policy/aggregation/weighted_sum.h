#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/policy/aggregation/segment_weights.h"

namespace tributary {

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
  // Whether this is the weight of a contributor who was expected.
  Status CheckWeight(double weight) const;

  // Adds weight · value to the elements from `offset`. Weight and values must have passed the checks: a value
  // that would not have spoils its element, and nothing else.
  void Accumulate(double weight, std::size_t offset, std::span<const float> values);
  void Accumulate(double weight, std::span<const float> values) { Accumulate(weight, 0, values); }

  // Takes back an Accumulate of the same arguments: as if it had never been.
  void Retract(double weight, std::size_t offset, std::span<const float> values);

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

  // The two halves of Accumulate: the weight of a range, and the values. A negative weight retracts.
  void AddWeight(double weight, std::size_t offset, std::size_t count);
  void AddValues(double weight, std::size_t offset, std::span<const float> values);
  void CheckRoom(std::size_t offset, std::size_t count) const;

  double expected_weight_ = 0;
  int exponent_ = 0;  // k
  std::int64_t room_ = 0;
  std::vector<std::int64_t> sums_;
  SegmentWeights weights_;
};

}  // namespace tributary
