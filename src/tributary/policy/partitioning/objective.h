#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/status.h"

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

}  // namespace tributary::inline policy
