#include <algorithm>

#include "tributary/experiment/sections.h"

namespace tributary::inline experiment {

Status ReadAggregation(Section section, const Experiment& rest, const Extensions& extensions,
                       AggregationOptions& aggregation) {
  const auto rules = extensions.AllAggregationRules();
  std::vector<std::string> names;
  for (const auto& rule : rules) names.push_back(rule->name);
  std::string name = aggregation.rule->name;
  section.ReadName("rule", "aggregation rule", names, name);
  for (const auto& rule : rules) {
    if (rule->name == name) aggregation.rule = rule;
  }
  const AggregationRule& chosen = *aggregation.rule;
  aggregation.numbers.clear();
  for (const RuleNumber& number : chosen.numbers) {
    aggregation.numbers.push_back(number.usual);
    section.Read(number.key, aggregation.numbers.back(), Range{.low = number.low, .high = number.high});
  }
  for (const auto& rule : rules) {
    for (const RuleNumber& number : rule->numbers) {
      const bool mine =
          std::ranges::find(chosen.numbers, number.key, &RuleNumber::key) != chosen.numbers.end();
      section.OnlyWith(number.key, mine, "rule = \"" + rule->name + "\"");
    }
  }
  const Method method = rest.train.method;
  if (!chosen.takes_parts && (method == Method::kSplit || method == Method::kGossip)) {
    section.Fail("rule", " is \"" + name +
                             "\", which compares whole updates and is only valid with train.method ="
                             " \"sync-sgd\" or \"federated\"; use rule = \"mean\"");
  }
  if (chosen.untrained == AggregationRule::Untrained::kRefused && Chooses(rest.dropout.method)) {
    section.Fail("rule", " is \"" + name +
                             "\", which cannot tell an element that a device did not train from one"
                             " that did not change; leave out [dropout], or use rule = \"mean\"");
  }
  return section.Finish();
}

}  // namespace tributary::inline experiment
