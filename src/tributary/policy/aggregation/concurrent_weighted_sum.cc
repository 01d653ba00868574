#include "tributary/policy/aggregation/concurrent_weighted_sum.h"

#include <algorithm>

namespace tributary {
namespace {

// Some tens of microseconds of work: long against taking a lock, short against a whole update.
constexpr std::size_t kBlock = 65536;

}  // namespace

ConcurrentWeightedSum::ConcurrentWeightedSum(std::size_t size, double expected_weight)
    : sum_(size, expected_weight), blocks_(std::make_unique<std::mutex[]>(size / kBlock + 1)) {}

void ConcurrentWeightedSum::Accumulate(double weight, std::size_t offset, std::span<const float> values) {
  TRIBUTARY_CHECK(weight >= 0);
  AddSigned(weight, offset, values);
}

void ConcurrentWeightedSum::Retract(double weight, std::size_t offset, std::span<const float> values) {
  TRIBUTARY_CHECK(weight >= 0);
  AddSigned(-weight, offset, values);
}

void ConcurrentWeightedSum::AddSigned(double weight, std::size_t offset, std::span<const float> values) {
  {
    const std::lock_guard lock(weights_);
    sum_.AddWeight(weight, offset, values.size());
  }
  while (!values.empty()) {
    const std::size_t block = offset / kBlock;
    const std::size_t count = std::min(values.size(), (block + 1) * kBlock - offset);
    const std::lock_guard lock(blocks_[block]);
    sum_.AddValues(weight, offset, values.first(count));
    values = values.subspan(count);
    offset += count;
  }
}

}  // namespace tributary
