#include "tributary/policy/aggregation/weighted_sum.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "tributary/base/check.h"
#include "tributary/base/number_text.h"

namespace tributary::inline policy {
namespace {

constexpr int kValueBits = 36;
constexpr int kWeightBits = 62;
constexpr std::size_t kCheckBlock = 4096;

// Adds round(scale · value), halves to even, for |scale · value| ≤ 2^60.
//
// Adding 1.5 · 2^52 to a double leaves it rounded to an integer, in the low bits of its representation; that
// holds up to 2^51 only. So multiples of 2^32 are taken off first, by the same trick with 1.5 · 2^84. What
// remains is exact, and since those multiples are even, rounding it rounds the whole. Plain arithmetic
// vectorises on every processor, which a conversion to 64-bit integers does not. It needs the default
// rounding mode, and no -ffast-math.
void AddRounded(double scale, std::size_t count, const float* __restrict values,
                std::int64_t* __restrict sums) {
  constexpr double kCoarse = 0x1.8p84;
  constexpr double kFine = 0x1.8p52;
  constexpr std::uint64_t kBias =
      (std::bit_cast<std::uint64_t>(kCoarse) << 32) + std::bit_cast<std::uint64_t>(kFine);
  for (std::size_t i = 0; i < count; ++i) {
    const double product = scale * static_cast<double>(values[i]);
    const double coarse = product + kCoarse;
    const double fine = (product - (coarse - kCoarse)) + kFine;
    // Unsigned: the biases wrap around, and so may the sum of values that were never checked.
    const std::uint64_t rounded =
        (std::bit_cast<std::uint64_t>(coarse) << 32) + std::bit_cast<std::uint64_t>(fine) - kBias;
    sums[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(sums[i]) + rounded);
  }
}

// As integers, magnitudes of floats are in order, with infinity and NaN above all; comparing so vectorises.
bool AnyTooLarge(std::span<const float> values) {
  constexpr auto kLimit = std::bit_cast<std::int32_t>(WeightedSum::kLargestValue);
  std::int32_t found = 0;
  for (const float value : values) {
    found |= static_cast<std::int32_t>((std::bit_cast<std::int32_t>(value) & 0x7fffffff) > kLimit);
  }
  return found != 0;
}

// Some tens of microseconds of work: long against taking a lock, short against a whole update.
constexpr std::size_t kBlock = 65536;

}  // namespace

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

WeightedSum::WeightedSum(std::size_t size, double expected_weight) : sums_(size), weights_(size) {
  Reset(expected_weight);
}

void WeightedSum::Reset(double expected_weight) {
  TRIBUTARY_CHECK(expected_weight > 0 && std::isfinite(expected_weight));
  expected_weight_ = expected_weight;
  const double fraction = std::frexp(expected_weight, &exponent_);
  if (fraction == 0.5) --exponent_;  // A power of two needs no larger one.
  room_ = std::llrint(std::ldexp(expected_weight, kWeightBits - exponent_));
  room_ += room_ >> 32;  // The caller's own sum of fractional weights may have been rounded.
  std::fill(sums_.begin(), sums_.end(), 0);
  weights_ = SegmentWeights(sums_.size());
}

Status WeightedSum::Check(std::span<const float> values, std::size_t offset) {
  for (std::size_t begin = 0; begin < values.size(); begin += kCheckBlock) {
    const auto block = values.subspan(begin, std::min(kCheckBlock, values.size() - begin));
    if (!AnyTooLarge(block)) continue;
    const auto bad = std::find_if(block.begin(), block.end(), [](float value) {
      return !(std::abs(value) <= kLargestValue);  // So that NaN is found.
    });
    const auto index = offset + begin + static_cast<std::size_t>(bad - block.begin());
    return Corrupt("element " + std::to_string(index) + " of the update is " +
                   NumberText(static_cast<double>(*bad)) +
                   "; values must be finite and at most 2^24 in magnitude. Training may have diverged: try a"
                   " smaller learning rate");
  }
  return OkStatus();
}

void WeightedSum::AddSigned(double weight, std::size_t offset, std::span<const float> values) {
  AddWeight(weight, offset, values.size());
  AddValues(weight, offset,
            values);  // Rounding is symmetric: of −weight the product is the same but for its sign.
}

void WeightedSum::Merge(const WeightedSum& other) {
  TRIBUTARY_CHECK(size() == other.size());
  TRIBUTARY_CHECK(expected_weight_ == other.expected_weight_);
  weights_.Merge(other.weights_);
  CheckRoom(0, size());
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    sums_[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(sums_[i]) +
                                         static_cast<std::uint64_t>(other.sums_[i]));
  }
}

Status WeightedSum::Mean(std::size_t offset, std::span<float> out) const {
  TRIBUTARY_CHECK(offset <= size() && out.size() <= size() - offset);
  if (out.empty()) return OkStatus();
  if (weights_.Smallest(offset, out.size()) == 0) {
    std::size_t missing = size();
    weights_.ForEach(offset, out.size(), [&](SegmentWeights::Run run) {
      if (run.weight == 0) missing = std::min(missing, run.offset);
    });
    return Unavailable("there is no mean of element " + std::to_string(missing) +
                       ": no contribution of positive weight reached it");
  }
  weights_.ForEach(offset, out.size(), [&](SegmentWeights::Run run) {
    // In units of the sums; the power of two is exact, and 2^k cancels.
    const double weight = std::ldexp(static_cast<double>(run.weight), kValueBits - kWeightBits);
    const std::int64_t* const sums = sums_.data() + run.offset;
    float* const means = out.data() + (run.offset - offset);
    for (std::size_t i = 0; i < run.count; ++i) {
      means[i] = static_cast<float>(static_cast<double>(sums[i]) / weight);
    }
  });
  return OkStatus();
}

double WeightedSum::Weight(std::size_t offset, std::size_t count) const {
  TRIBUTARY_CHECK(offset <= size() && count <= size() - offset);
  if (count == 0) return 0;
  return std::ldexp(static_cast<double>(weights_.Smallest(offset, count)), exponent_ - kWeightBits);
}

void WeightedSum::AddWeight(double weight, std::size_t offset, std::size_t count) {
  TRIBUTARY_CHECK(std::abs(weight) <= expected_weight_);
  weights_.Add(offset, count, std::llrint(std::ldexp(weight, kWeightBits - exponent_)));
  CheckRoom(offset, count);
}

void WeightedSum::AddValues(double weight, std::size_t offset, std::span<const float> values) {
  AddRounded(std::ldexp(weight, kValueBits - exponent_), values.size(), values.data(), sums_.data() + offset);
}

void WeightedSum::CheckRoom(std::size_t offset, std::size_t count) const {
  TRIBUTARY_CHECK(count == 0 ||
                  (weights_.Largest(offset, count) <= room_ && weights_.Smallest(offset, count) >= 0));
}

ConcurrentWeightedSum::ConcurrentWeightedSum(std::size_t size, double expected_weight)
    : sum_(size, expected_weight), blocks_(std::make_unique<Mutex[]>(size / kBlock + 1)) {}

void ConcurrentWeightedSum::AddSigned(double weight, std::size_t offset, std::span<const float> values) {
  {
    const MutexLock lock(weights_);
    sum_.AddWeight(weight, offset, values.size());
  }
  while (!values.empty()) {
    const std::size_t block = offset / kBlock;
    const std::size_t count = std::min(values.size(), (block + 1) * kBlock - offset);
    const MutexLock lock(blocks_[block]);
    sum_.AddValues(weight, offset, values.first(count));
    values = values.subspan(count);
    offset += count;
  }
}

}  // namespace tributary::inline policy
