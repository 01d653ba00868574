#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tributary/policy/partitioning/objective.h"

namespace tributary {

// The block that chooses next: of those that hold fewer than their quota the one worth or filled least, the first of
// equals. At least one is not full.
std::size_t ChooseBlock(BlockChoice choice, std::span<const std::size_t> quotas,
                        std::span<const std::size_t> held, std::span<const std::int64_t> worth);

}  // namespace tributary
