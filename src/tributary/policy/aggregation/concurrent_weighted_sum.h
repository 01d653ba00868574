#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>

#include "tributary/policy/aggregation/weighted_sum.h"

namespace tributary {

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
  void Accumulate(double weight, std::size_t offset, std::span<const float> values);
  void Accumulate(double weight, std::span<const float> values) { Accumulate(weight, 0, values); }

  // As WeightedSum::Retract.
  void Retract(double weight, std::size_t offset, std::span<const float> values);

  // For everything else: checks, merging, the mean, the next round.
  WeightedSum& sum() { return sum_; }
  const WeightedSum& sum() const { return sum_; }

 private:
  void AddSigned(double weight, std::size_t offset, std::span<const float> values);

  WeightedSum sum_;
  std::mutex weights_;
  std::unique_ptr<std::mutex[]> blocks_;
};

}  // namespace tributary
