#include "tributary/policy/partitioning/choose_block.h"

#include "tributary/base/check.h"

namespace tributary {

std::size_t ChooseBlock(BlockChoice choice, std::span<const std::size_t> quotas,
                        std::span<const std::size_t> held, std::span<const std::int64_t> worth) {
  std::size_t best = quotas.size();
  for (std::size_t j = 0; j < quotas.size(); ++j) {
    if (held[j] == quotas[j]) continue;
    if (best == quotas.size()) {
      best = j;
      continue;
    }
    const bool less = choice == BlockChoice::kRaw ? worth[j] < worth[best]
                                                  : held[j] * quotas[best] < held[best] * quotas[j];
    if (less) best = j;
  }
  TRIBUTARY_CHECK(best < quotas.size());
  return best;
}

}  // namespace tributary
