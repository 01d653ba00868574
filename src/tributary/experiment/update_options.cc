// [compression], [aggregation] and [trust]: the processing of updates. The first two choose from a table of components.
#include <algorithm>

#include "tributary/experiment/forms.h"
#include "tributary/experiment/options.h"
#include "tributary/policy/compression/codecs.h"

namespace tributary::inline experiment {
namespace {

bool HasNumber(const AggregationRule& rule, const std::string& key) {
  return std::ranges::find(rule.numbers, key, &RuleNumber::key) != rule.numbers.end();
}

// A number of the chosen rule; if it has none with this key, a number of the rule of `described`.
ValueForm RuleNumberForm(AggregationOptions& aggregation, const RuleNumber& described) {
  const auto bound = [&aggregation, &described](double& usual) {
    const std::vector<RuleNumber>& numbers = aggregation.rule->numbers;
    const auto own = std::ranges::find(numbers, described.key, &RuleNumber::key);
    usual = described.usual;
    if (own == numbers.end()) return Number(usual, {.low = described.low, .high = described.high});
    return Number(aggregation.numbers[static_cast<std::size_t>(own - numbers.begin())],
                  {.low = own->low, .high = own->high});
  };
  return {.field = &described,
          .read =
              [bound](const Value& value, const Spot& spot) {
                double usual = 0;
                return bound(usual).read(value, spot);
              },
          .write =
              [bound] {
                double usual = 0;
                return bound(usual).write();
              },
          .allowed =
              [bound] {
                double usual = 0;
                return bound(usual).allowed();
              }};
}

}  // namespace

OptionList CompressionKeys(Experiment& e, const OptionContext& context) {
  CompressionOptions& compression = e.compression;
  OptionList list;
  const std::vector<CompressionKind> codecs = context.extensions.AllCodecs();
  list.Add("kind", RowForm(compression.kind, codecs, "compression"), "How updates are encoded.");
  const auto add = [&](std::string_view key, ValueForm form, std::string_view doc) {
    list.Add(key, std::move(form), doc)
        .OnlyWith([&compression, key] { return compression.kind->Uses(key); },
                  RowsWith("kind", codecs, [key](const CodecKind& codec) { return codec.Uses(key); }));
  };
  add("ratio", Number(compression.ratio, kPositiveShare), "Share of elements that top-k keeps.");
  add("scope", OneOf(compression.scope, kSelectionScopes),
      "Select the largest elements of each layer (unit) or of the whole update (global).");
  add("delta", Number(compression.delta, {.high = 1}),
      "Largest loss of the squared norm at which adaptive top-k still compresses.");
  add("ewma", Number(compression.ewma, kPositiveShare), "Weight of the newest measurement of that loss.");
  add("error-feedback", Flag(compression.error_feedback),
      "Add the unsent residual to the next update (error feedback).");
  list.Check([&compression](OptionList& mistakes) {
    if (const Status status = Validate(compression); !status.ok())
      mistakes.Fail(&compression.kind, ": " + status.message());
  });
  return list;
}

OptionList AggregationKeys(Experiment& e, const OptionContext& context) {
  AggregationOptions& aggregation = e.aggregation;
  OptionList list;
  const auto rules = WithChosen(context.extensions.AllAggregationRules(), aggregation.rule);
  list.Add("rule",
           RowForm(aggregation.rule, rules, "aggregation rule",
                   [&aggregation] {
                     aggregation.numbers.clear();
                     for (const RuleNumber& number : aggregation.rule->numbers)
                       aggregation.numbers.push_back(number.usual);
                   }),
           "How the updates of a round are aggregated.");
  for (const auto& rule : rules) {
    for (const RuleNumber& number : rule->numbers) {
      const std::string& key = number.key;
      // Rules may share a key.
      if (std::ranges::find(list.options(), key, &Option::key) != list.options().end()) continue;
      list.Add(key, RuleNumberForm(aggregation, number), number.about)
          .OnlyWith([&aggregation, &key] { return HasNumber(*aggregation.rule, key); },
                    RowsWith("rule", rules, [&key](const AggregationRule& r) { return HasNumber(r, key); }));
    }
  }
  list.Check([&e, &aggregation](OptionList& mistakes) {
    const AggregationRule& rule = *aggregation.rule;
    const Method method = e.train.method;
    if (!rule.takes_parts && (method == Method::kSplit || method == Method::kGossip)) {
      mistakes.Fail(&aggregation.rule,
                    " is \"" + rule.name +
                        "\", which compares whole updates and is only valid with train.method = \"sync-sgd\" "
                        "or \"federated\"; use rule = \"mean\"");
    }
    if (rule.untrained == AggregationRule::Untrained::kRefused && e.dropout.method->Chooses()) {
      mistakes.Fail(&aggregation.rule,
                    " is \"" + rule.name +
                        "\", which cannot tell an element that a device did not train from an element that "
                        "did not change; leave out [dropout], or use rule = \"mean\"");
    }
  });
  return list;
}

OptionList TrustKeys(Experiment& e, const OptionContext&) {
  constexpr Range kMultiple{.low = 0, .high = 1e9};
  TrustOptions& trust = e.trust;
  OptionList list;
  list.Add("largest-share", Number(trust.largest_share, kMultiple),
           "The most that one device may weigh or claim, as a multiple of the median of the devices; 0: no "
           "limit.");
  list.Add(
      "clip", Number(trust.clip, kMultiple),
      "The longest update, as a multiple of the median norm of the last 16 rounds; longer ones are scaled "
      "down to it. 0: no limit. Not for the global batches of split learning.");
  list.Add(
      "patience", Number(trust.patience, kMultiple),
      "A device without progress for this multiple of its expected time, and for a minute at least, counts "
      "as lost for the round; 0: never. Real devices only.");
  list.Add("divergence", Number(trust.divergence, kMultiple),
           "A run with a loss above this multiple of the median of the last 16, three times in a row or not "
           "finite, is rolled back to its last sound weights, and the devices that caused it are "
           "quarantined. 0: never. Not for gossip.");
  return list;
}

}  // namespace tributary::inline experiment
