// The rows and columns of docs/compatibility.md, from compatibility/decisions.toml.

#include <algorithm>

#include "tributary/base/check.h"
#include "tributary/data/replay_stream.h"
#include "tributary/experiment/compatibility.h"
#include "tributary/experiment/forms.h"
#include "tributary/experiment/presets.h"
#include "tributary/policy/sampling/sampling.h"

namespace tributary::inline experiment {
namespace {

constexpr std::size_t kMostRows = 1000;
constexpr std::size_t kMostRowSettings = 10;

struct CompatibilityRows {
  std::vector<MethodChoice> methods;
  std::vector<Decision> decisions;
};

OptionList RowKeys(CompatibilityRows& rows) {
  OptionList list;
  list.Add(
      "method",
      Sections(rows.methods, kMostRows,
               [](MethodChoice& method) {
                 OptionList keys;
                 keys.Add("name", Text(method.name), "").Required();
                 keys.Add("settings", Texts(method.settings, "settings", kMostRowSettings), "").Required();
                 return keys;
               }),
      "");
  list.Add(
      "option",
      Sections(rows.decisions, kMostRows,
               [](Decision& decision) {
                 OptionList keys;
                 keys.Add("topic", Text(decision.topic), "").Required();
                 keys.Add("about", Text(decision.about), "").Required();
                 keys.Add("settings", Texts(decision.settings, "settings", kMostRowSettings), "").Required();
                 keys.Add("given", Texts(decision.given, "settings", kMostRowSettings), "");
                 keys.Add("otherwise", Texts(decision.otherwise, "settings", kMostRowSettings), "");
                 return keys;
               }),
      "");
  return list;
}

std::string_view EmbeddedText(std::string_view name) {
  for (const EmbeddedPreset& text : EmbeddedCompatibility()) {
    if (text.name == name) return text.text;
  }
  return "";
}

// Replaces KEY=* by a row for each row of the table.
template <typename Entries>
void Expand(std::string_view setting, const Entries& table, std::vector<Decision>& decisions) {
  const auto star =
      std::ranges::find(decisions, setting, [](const Decision& one) { return one.settings.front(); });
  TRIBUTARY_CHECK(star != decisions.end());
  std::vector<Decision> rows;
  for (const auto& row : table) {
    rows.push_back(*star);
    rows.back().about = row->about;
    rows.back().settings.front().replace(setting.size() - 1, 1, row->name);
  }
  decisions.insert(decisions.erase(star), rows.begin(), rows.end());
}

const CompatibilityRows& Rows() {
  static const CompatibilityRows kRows = [] {
    CompatibilityRows rows;
    const auto document = ParseDocument(EmbeddedText("decisions"), "decisions.toml");
    TRIBUTARY_CHECK(document.ok());  // It is ours, and tests read it.
    TRIBUTARY_CHECK(RowKeys(rows).Read(*document, document->root, "").ok());
    Expand("compression.kind=*", std::span(Codecs()).subspan(1), rows.decisions);
    Expand("aggregation.rule=*", std::span(AggregationRules()).subspan(1), rows.decisions);
    std::vector<DropoutMethod> by_width = SubnetworkRules();
    std::erase_if(by_width, [](const DropoutMethod& rule) { return !rule->ChoosesWidths(); });
    Expand("dropout.method=*", by_width, rows.decisions);
    return rows;
  }();
  return kRows;
}

// What a program of one's own might bring (docs/library.md).
class MySampler : public Sampler {
 public:
  SamplingPlan Plan(const SamplingProblem& problem, const SamplerScene& scene) const override {
    Rng rng = Rng::ForStream(scene.seed, DeviceId{0}, "my-sampling", scene.epoch);
    return PlanUniformGlobal(problem, scene.batch, rng);
  }
};

StatusOr<std::unique_ptr<Stream>> MyStream(const StreamScene& scene) {
  TRIBUTARY_ASSIGN_OR_RETURN(RateProgramme programme, RateProgramme::Make({100}));
  return MakeReplayStream(scene.dataset, scene.part,
                          PlayAtRate(std::move(programme), scene.part.size(), scene.seed, scene.device),
                          {.start = scene.start});
}

}  // namespace

std::span<const MethodChoice> MethodChoices() { return Rows().methods; }
std::span<const Decision> Decisions() { return Rows().decisions; }

const Extensions& PairExtensions() {
  static const Extensions kMine = [] {
    Extensions extensions;
    TRIBUTARY_CHECK(extensions.AddSampler("mine", std::make_shared<MySampler>()).ok());
    TRIBUTARY_CHECK(extensions.AddStream("mine", MyStream).ok());
    return extensions;
  }();
  return kMine;
}

std::string_view PairExperiment() { return EmbeddedText("pair"); }

}  // namespace tributary::inline experiment
