#include "tributary/policy/partitioning/class_greedy.h"

#include <algorithm>
#include <numeric>

#include "tributary/base/check.h"
#include "tributary/policy/partitioning/choose_block.h"
#include "tributary/policy/partitioning/cut_blocks.h"
#include "tributary/policy/partitioning/facility_blocks.h"

namespace tributary {
namespace {

// `blocks` offers Take(block, taken): the sample with the largest gain that is not taken, added to that block, and
// worth(): that of each block.
template <typename Blocks>
ClassBlocks FillGreedily(Blocks& blocks, std::size_t samples, std::span<const std::size_t> quotas,
                         BlockChoice choice) {
  TRIBUTARY_CHECK(std::accumulate(quotas.begin(), quotas.end(), std::size_t{0}) == samples);
  TRIBUTARY_CHECK(samples <= kMostOfClass);
  ClassBlocks result;
  result.holder.assign(samples, 0);
  std::vector<std::size_t> held(quotas.size(), 0);
  for (std::size_t placed = 0; placed < samples; ++placed) {
    const std::size_t block = ChooseBlock(choice, quotas, held, blocks.worth());
    result.holder[blocks.Take(block)] = static_cast<std::uint32_t>(block);
    ++held[block];
  }
  result.worth.assign(blocks.worth().begin(), blocks.worth().end());
  result.evaluations = blocks.evaluations();
  return result;
}

}  // namespace

ClassBlocks FillBlocks(const Similarities& similarities, std::span<const std::size_t> quotas,
                       PartitionObjective objective, BlockChoice choice) {
  if (objective == PartitionObjective::kFacilityLocation) {
    const RowGains gains(similarities);
    FacilityBlocks<RowGains> blocks(gains, quotas.size());
    return FillGreedily(blocks, similarities.size(), quotas, choice);
  }
  CutBlocks blocks(similarities, objective, quotas);
  return FillGreedily(blocks, similarities.size(), quotas, choice);
}

ClassBlocks FillBlocks(const NearestSimilarities& similarities, std::span<const std::size_t> quotas,
                       BlockChoice choice) {
  const NearestGains gains(similarities);
  FacilityBlocks<NearestGains> blocks(gains, quotas.size());
  return FillGreedily(blocks, similarities.size(), quotas, choice);
}

std::size_t GreedyBytesFor(std::size_t samples, std::size_t blocks, PartitionObjective objective) {
  const std::size_t each = objective == PartitionObjective::kFacilityLocation
                               ? sizeof(Similarity) + sizeof(std::uint64_t)
                               : sizeof(std::int64_t);
  return samples * (blocks * each + 4 * sizeof(std::uint64_t));
}

std::int64_t CutWeight(PartitionObjective objective, std::int64_t row_sum, std::size_t quota,
                       std::size_t samples) {
  if (objective == PartitionObjective::kGraphCut) return row_sum;
  // At most 4 · 2^(16 + 22) · 2^22, and rounded half up.
  const auto whole = static_cast<std::int64_t>(samples);
  return (4 * row_sum * static_cast<std::int64_t>(quota) + whole) / (2 * whole);
}

}  // namespace tributary
