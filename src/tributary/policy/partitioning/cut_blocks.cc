#include "tributary/policy/partitioning/cut_blocks.h"

#include "tributary/base/check.h"
#include "tributary/policy/partitioning/class_greedy.h"
#include "tributary/policy/partitioning/wide_loops.h"

namespace tributary {
namespace {

// Gains lie within 2^48 of zero or so.
constexpr std::int64_t kTaken = -(std::int64_t{1} << 60);

TRIBUTARY_WIDE_LOOPS
std::int64_t LargestGain(const std::int64_t* __restrict gains, const std::int64_t* __restrict barred,
                         std::size_t count) {
  std::int64_t largest = 2 * kTaken;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t gain = gains[i] + barred[i];
    largest = gain > largest ? gain : largest;
  }
  return largest;
}

TRIBUTARY_WIDE_LOOPS
void TakeOffTwice(const Similarity* __restrict row, std::size_t count, std::int64_t* __restrict gains) {
  for (std::size_t i = 0; i < count; ++i) gains[i] -= 2 * std::int64_t{row[i]};
}

}  // namespace

CutBlocks::CutBlocks(const Similarities& similarities, PartitionObjective objective,
                     std::span<const std::size_t> quotas)
    : similarities_(similarities),
      barred_(similarities.size(), 0),
      worth_(quotas.size(), 0),
      scratch_(ScratchFor(similarities.size())),
      left_(similarities.size()) {
  const std::vector<std::int64_t> sums = similarities.RowSums();
  for (const std::size_t quota : quotas) {
    std::vector<std::int64_t>& gains = gains_.emplace_back();
    if (quota == 0) continue;  // It never chooses.
    gains.resize(sums.size());
    for (std::size_t i = 0; i < sums.size(); ++i) {
      gains[i] = CutWeight(objective, sums[i], quota, sums.size()) - kAlike;
    }
  }
  evaluations_ = left_;
}

std::size_t CutBlocks::Take(std::size_t block) {
  std::vector<std::int64_t>& gains = gains_[block];
  const std::int64_t largest = LargestGain(gains.data(), barred_.data(), gains.size());
  std::size_t sample = 0;
  while (gains[sample] + barred_[sample] != largest) ++sample;
  TRIBUTARY_CHECK(barred_[sample] == 0);
  barred_[sample] = kTaken;
  worth_[block] += largest;
  const std::span<const Similarity> row = similarities_.Row(sample, scratch_);
  TakeOffTwice(row.data(), row.size(), gains.data());
  evaluations_ += --left_;
  return sample;
}

}  // namespace tributary
