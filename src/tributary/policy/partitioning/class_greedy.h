#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/policy/partitioning/similarities.h"

namespace tributary::inline policy {

// The value of a block A of a class V, from the similarities of the class. All objectives are submodular: the
// gain of a sample falls as the block grows.
enum class PartitionObjective {
  kFacilityLocation,  // Sum over V of the similarity of the block's most similar sample. Monotone.
  kGraphCut,          // Similarities between A and the rest of V. Falls once A holds about half of V.
  // λ · (similarities between V and A) − (similarities within A, including the diagonal), where λ is twice
  // the block's share of the class. At its full size, a block's value is −MMD² to its class, up to constants.
  kMatchedCut,
};

// Which block chooses the next sample, among those below quota.
enum class BlockChoice {
  kRaw,   // The block of least value, as published. With unequal quotas the blocks become dissimilar.
  kFill,  // The block with the smallest fill relative to its quota. Round robin if quotas are equal.
};

// In display order.
inline constexpr PartitionObjective kPartitionObjectives[] = {
    PartitionObjective::kFacilityLocation, PartitionObjective::kGraphCut, PartitionObjective::kMatchedCut};
inline constexpr BlockChoice kBlockChoices[] = {BlockChoice::kRaw, BlockChoice::kFill};
std::string_view NameOf(PartitionObjective objective);
std::string_view NameOf(BlockChoice choice);
StatusOr<PartitionObjective> ParsePartitionObjective(std::string_view name);
StatusOr<BlockChoice> ParseBlockChoice(std::string_view name);

// The next block to choose: below quota (at least one must be), of least value or fill; the first of equals.
std::size_t ChooseBlock(BlockChoice choice, std::span<const std::size_t> quotas,
                        std::span<const std::size_t> held, std::span<const std::int64_t> worth);

// A class divided into one block per worker.
struct ClassBlocks {
  std::vector<std::uint32_t> holder;  // worker of each sample of the class
  std::vector<std::int64_t> worth;    // per block, in steps of 1/kAlike
  // How often a gain was computed from a row. The plain greedy computes all remaining gains at every step.
  std::uint64_t evaluations = 0;
};

// Maximum class size, so that a gain and a sample index fit 64 bits.
inline constexpr std::size_t kMostOfClass = std::size_t{1} << 22;

// Greedy: while samples are left, the block given by `choice` takes the sample of largest gain; ties go to
// the lowest index. Every sample must be placed, so if all gains are negative (possible with cuts) the
// smallest loss is taken. The quotas sum to the number of samples; a block of quota 0 stays empty.
//
// The result is exactly that of evaluating every sample at every step:
//   - facility location keeps per block a lazy heap of gains and the best similarity to each sample. Gains
//     only fall, so the top is taken when it is up to date. Samples taken by other blocks are skipped;
//   - cuts keep every gain of each block up to date, with one row of similarities per sample taken.
// matched-cut rounds λ · (row sum) to one similarity step, once per sample and block.
ClassBlocks FillBlocks(const Similarities& similarities, std::span<const std::size_t> quotas,
                       PartitionObjective objective, BlockChoice choice);

// Facility location over the nearest samples only.
ClassBlocks FillBlocks(const NearestSimilarities& similarities, std::span<const std::size_t> quotas,
                       BlockChoice choice);

// Maximum memory besides the similarities.
std::size_t GreedyBytesFor(std::size_t samples, std::size_t blocks, PartitionObjective objective);

// λ · row sum of matched-cut or graph-cut: the value of a sample to a block of `quota`, before the
// similarities within the block are subtracted.
std::int64_t CutWeight(PartitionObjective objective, std::int64_t row_sum, std::size_t quota,
                       std::size_t samples);

// Gains of facility location: how much the sum of best similarities would rise with one more sample. `best`
// holds the block's best similarity to each sample of the class.
class RowGains {
 public:
  explicit RowGains(const Similarities& similarities)
      : similarities_(similarities), scratch_(ScratchFor(similarities.size())) {}
  std::size_t size() const { return similarities_.size(); }
  std::uint64_t Gain(std::size_t sample, std::span<const Similarity> best) const;
  // Adds the sample to `best`.
  void Raise(std::size_t sample, std::span<Similarity> best) const;

 private:
  const Similarities& similarities_;
  mutable std::vector<Similarity> scratch_;
};

}  // namespace tributary::inline policy
