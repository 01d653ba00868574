#include "tributary/policy/partitioning/objective.h"

#include <algorithm>

#include "tributary/base/names.h"

namespace tributary {
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

}  // namespace tributary
