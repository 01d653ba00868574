#include <algorithm>
#include <cctype>
#include <limits>

#include "tributary/experiment/sections.h"

namespace tributary {

bool IsPlainName(std::string_view name) {
  const auto plain = [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_'; };
  const auto digit = [](unsigned char c) { return std::isdigit(c) != 0; };
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), plain) &&
         !std::all_of(name.begin(), name.end(), digit);
}

Status ReadGoal(Section section, Goal& goal) {
  section.Require("name");
  section.Read("name", goal.name);
  section.Read("about", goal.about);
  auto seed = static_cast<std::int64_t>(goal.seed);
  section.Read("seed", seed, 0, std::numeric_limits<std::int64_t>::max());
  goal.seed = static_cast<std::uint64_t>(seed);
  section.Read("rounds", goal.rounds, 1, kMostRounds);
  section.Read("time-budget", goal.time_budget, Range{.high = kLongestSeconds, .above_low = true});
  section.Read("target-accuracy", goal.target_accuracy, kPositiveShare);
  section.Read("evaluate-every", goal.evaluate_every, 1, kMostRounds);
  if (!goal.name.empty() && !IsPlainName(goal.name)) {
    section.Fail("name", " is \"" + goal.name + "\"; allowed: " + std::string(kPlainName));
  }
  if (!goal.rounds && !goal.time_budget && !goal.target_accuracy) {
    section.Fail("rounds",
                 " is missing; say when the run ends: rounds, time-budget, target-accuracy, or several");
  }
  return section.Finish();
}

}  // namespace tributary
