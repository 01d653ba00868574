#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/policy/partitioning/similarities.h"

namespace tributary::inline policy {

// What a block A of a class V is worth, from the similarities of the class. All are submodular: the more a block has,
// the less the same sample adds.
enum class PartitionObjective {
  kFacilityLocation,  // For every sample of V, how alike the block's most similar sample is. Never falls.
  kGraphCut,  // The similarities between A and the rest of V. Falls once A holds more than half of it or so.
  // λ · (similarities between V and A) − (similarities within A, each with itself too), where λ is twice the share of
  // the class that the block is to hold. At its full size a block's worth is −MMD² to its class, up to constants.
  kMatchedCut,
};

// Which block is next to choose a sample, of those that are not full.
enum class BlockChoice {
  kRaw,   // The one worth least, as published. With unequal quotas the blocks become unlike.
  kFill,  // The one filled least, in proportion to its quota. Round robin where quotas are equal.
};

// In the order in which they are shown.
inline constexpr PartitionObjective kPartitionObjectives[] = {
    PartitionObjective::kFacilityLocation, PartitionObjective::kGraphCut, PartitionObjective::kMatchedCut};
inline constexpr BlockChoice kBlockChoices[] = {BlockChoice::kRaw, BlockChoice::kFill};
std::string_view NameOf(PartitionObjective objective);
std::string_view NameOf(BlockChoice choice);
StatusOr<PartitionObjective> ParsePartitionObjective(std::string_view name);
StatusOr<BlockChoice> ParseBlockChoice(std::string_view name);

// The block that chooses next: of those that hold fewer than their quota the one worth or filled least, the first of
// equals. At least one is not full.
std::size_t ChooseBlock(BlockChoice choice, std::span<const std::size_t> quotas,
                        std::span<const std::size_t> held, std::span<const std::int64_t> worth);

// A class divided into blocks, one for each worker.
struct ClassBlocks {
  std::vector<std::uint32_t> holder;  // The worker of each sample of the class.
  std::vector<std::int64_t> worth;    // Of each block, in steps of 1/kAlike.
  // How often the gain of a sample was computed from a row of similarities. The plain greedy does that for every
  // sample left at every step.
  std::uint64_t evaluations = 0;
};

// Classes may have up to so many samples, so that a gain and a sample's number fit 64 bits.
inline constexpr std::size_t kMostOfClass = std::size_t{1} << 22;

// The greedy: while samples are left, the block of `choice` takes the one with the largest gain, of equal ones that
// with the lowest number; of equal blocks the first chooses. A sample has to go somewhere, so where every gain is
// negative (as it comes to be with cuts) the least loss is taken. The quotas sum to the number of samples; a block
// with none stays empty.
//
// The result is that of asking every sample at every step, exactly:
//   - facility location keeps, for each block, how alike each sample's best is, and a heap of gains as they once were;
//     gains only fall, so the top is taken when it is up to date. What other blocks take never changes a gain, and is
//     skipped when it comes to the top;
//   - cuts keep every gain of each block up to date, which one row of similarities does for each sample taken.
// matched-cut rounds λ · (row sum) to a step of similarity, once for each sample and block.
ClassBlocks FillBlocks(const Similarities& similarities, std::span<const std::size_t> quotas,
                       PartitionObjective objective, BlockChoice choice);

// Facility location over the nearest alone.
ClassBlocks FillBlocks(const NearestSimilarities& similarities, std::span<const std::size_t> quotas,
                       BlockChoice choice);

// What it takes at most besides the similarities.
std::size_t GreedyBytesFor(std::size_t samples, std::size_t blocks, PartitionObjective objective);

// λ · row sum of matched-cut or graph-cut: what a sample of that row sum is worth to a block of `quota` before anything
// is taken off for what it is like.
std::int64_t CutWeight(PartitionObjective objective, std::int64_t row_sum, std::size_t quota,
                       std::size_t samples);

// How much more alike a block's best would be, summed over the class, with one sample more. `best` holds for each
// sample of the class how alike the block's most similar one is.
class RowGains {
 public:
  explicit RowGains(const Similarities& similarities)
      : similarities_(similarities), scratch_(ScratchFor(similarities.size())) {}
  std::size_t size() const { return similarities_.size(); }
  std::uint64_t Gain(std::size_t sample, std::span<const Similarity> best) const;
  // Takes the sample into `best`.
  void Raise(std::size_t sample, std::span<Similarity> best) const;

 private:
  const Similarities& similarities_;
  mutable std::vector<Similarity> scratch_;
};

}  // namespace tributary::inline policy
