#include "tributary/policy/partitioning/objective.h"

#include <algorithm>

#include "tributary/base/check.h"
#include "tributary/base/names.h"

namespace tributary::inline policy {
namespace {

template <typename Enum>
StatusOr<Enum> ParsePartitionName(std::string_view what, std::string_view name,
                                  const std::vector<std::string>& names) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return UnknownName(what, name, names);
  return static_cast<Enum>(found - names.begin());
}

}  // namespace

const std::vector<std::string>& PartitionObjectiveNames() {
  static const std::vector<std::string> names = {"facility-location", "graph-cut", "matched-cut"};
  return names;
}

const std::vector<std::string>& BlockChoiceNames() {
  static const std::vector<std::string> names = {"raw", "fill"};
  return names;
}

std::string_view NameOf(PartitionObjective objective) {
  return PartitionObjectiveNames()[static_cast<std::size_t>(objective)];
}

std::string_view NameOf(BlockChoice choice) { return BlockChoiceNames()[static_cast<std::size_t>(choice)]; }

StatusOr<PartitionObjective> ParsePartitionObjective(std::string_view name) {
  return ParsePartitionName<PartitionObjective>("objective", name, PartitionObjectiveNames());
}

StatusOr<BlockChoice> ParseBlockChoice(std::string_view name) {
  return ParsePartitionName<BlockChoice>("choice", name, BlockChoiceNames());
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
