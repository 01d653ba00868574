#include "tributary/policy/partitioning/objective.h"

#include "tributary/base/check.h"
#include "tributary/base/names.h"

namespace tributary::inline policy {

std::string_view NameOf(PartitionObjective objective) {
  switch (objective) {
    case PartitionObjective::kFacilityLocation:
      return "facility-location";
    case PartitionObjective::kGraphCut:
      return "graph-cut";
    case PartitionObjective::kMatchedCut:
      return "matched-cut";
  }
  return "";
}

std::string_view NameOf(BlockChoice choice) { return choice == BlockChoice::kRaw ? "raw" : "fill"; }

StatusOr<PartitionObjective> ParsePartitionObjective(std::string_view name) {
  return ParseName("objective", kPartitionObjectives, name);
}

StatusOr<BlockChoice> ParseBlockChoice(std::string_view name) {
  return ParseName("choice", kBlockChoices, name);
}

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

}  // namespace tributary::inline policy
