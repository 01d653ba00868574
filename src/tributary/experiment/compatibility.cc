#include "tributary/experiment/compatibility.h"

#include <algorithm>
#include <filesystem>

#include "tributary/base/check.h"
#include "tributary/data/replay_stream.h"
#include "tributary/experiment/forms.h"
#include "tributary/experiment/presets.h"
#include "tributary/experiment/reader.h"
#include "tributary/policy/sampling/sampling.h"

namespace tributary::inline experiment {
namespace {

// The rows and columns of docs/compatibility.md are in compatibility/decisions.toml.
constexpr std::size_t kMostRows = 1000;
constexpr std::size_t kMostRowSettings = 10;

struct CompatibilityRows {
  std::vector<MethodChoice> methods;
  std::vector<Decision> decisions;
};

OptionList RowKeys(CompatibilityRows& rows) {
  OptionList list;
  list.Add("method", Sections(rows.methods, kMostRows, [](MethodChoice& method) {
             OptionList keys;
             keys.Add("name", Text(method.name)).Required();
             keys.Add("settings", Texts(method.settings, "settings", kMostRowSettings)).Required();
             return keys;
           }));
  list.Add("option", Sections(rows.decisions, kMostRows, [](Decision& decision) {
             OptionList keys;
             keys.Add("topic", Text(decision.topic)).Required();
             keys.Add("about", Text(decision.about)).Required();
             keys.Add("settings", Texts(decision.settings, "settings", kMostRowSettings)).Required();
             keys.Add("given", Texts(decision.given, "settings", kMostRowSettings));
             keys.Add("otherwise", Texts(decision.otherwise, "settings", kMostRowSettings));
             return keys;
           }));
  return list;
}

std::string_view EmbeddedText(std::string_view name) {
  const std::span<const EmbeddedPreset> texts = EmbeddedCompatibility();
  const auto found = std::ranges::find(texts, name, &EmbeddedPreset::name);
  return found == texts.end() ? "" : found->text;
}

// Replaces the row KEY=* by one row for each entry of the table.
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
    TRIBUTARY_CHECK(document.ok());  // built in, and read by tests
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

// Examples of custom components (docs/library.md).
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

constexpr std::string_view kPairName = "pair.toml";

std::string_view KeyOf(std::string_view setting) { return setting.substr(0, setting.find('=')); }

// An option in epochs replaces the method's local steps.
std::vector<std::string> Join(const MethodChoice& method, const std::vector<std::string>& given,
                              const std::vector<std::string>& chosen) {
  std::vector<std::string> settings = given;
  settings.insert(settings.end(), chosen.begin(), chosen.end());
  const bool epochs = std::ranges::find(settings, "train.local-epochs", KeyOf) != settings.end();
  std::vector<std::string> all = method.settings;
  if (epochs)
    std::erase_if(all, [](const std::string& setting) { return KeyOf(setting) == "train.local-steps"; });
  all.insert(all.end(), settings.begin(), settings.end());
  return all;
}

// Removes the location "--set train.batch=0: " or "pair.toml:12: ".
std::string WithoutPlace(const std::string& message, std::span<const std::string> settings) {
  std::size_t place = 0;  // length of the longest setting, or start of a long one, in the message
  for (const std::string& setting : settings) {
    const std::string whole = "--set " + setting;
    const auto differs = std::ranges::mismatch(message, whole).in1 - message.begin();
    place = std::max(place, static_cast<std::size_t>(differs));
  }
  const bool placed = message.starts_with("--set ") || message.starts_with(kPairName);
  return placed ? message.substr(message.find(": ", place) + 2) : message;
}

std::string Code(const std::vector<std::string>& settings) {
  std::string text;
  for (const std::string& setting : settings) text += (text.empty() ? "`" : ", `") + setting + "`";
  return text;
}

// The table of adjacent decisions of one topic, and below it the reasons for refused pairs.
std::string FormatTopic(std::span<const Decision> decisions) {
  std::string text = "\n## " + std::string(decisions.front().topic) + "\n\n| option | setting |";
  std::string rule = "|---|---|";
  for (const MethodChoice& method : MethodChoices()) {
    text += " " + std::string(method.name) + " |";
    rule += "---|";
  }
  text += "\n" + rule + "\n";
  std::vector<std::string> reasons;
  for (const Decision& decision : decisions) {
    text += "| " + std::string(decision.about) + " | " + Code(decision.settings);
    if (!decision.given.empty()) text += " with " + Code(decision.given);
    text += " |";
    for (const MethodChoice& method : MethodChoices()) {
      const auto read = ReadPair(PairSettings(method, decision));
      if (read.ok()) {
        text += " yes |";
        continue;
      }
      auto reason = std::ranges::find(reasons, read.status().message());
      if (reason == reasons.end()) reason = reasons.insert(reasons.end(), read.status().message());
      text += " no (" + std::to_string(reason - reasons.begin() + 1) + ") |";
    }
    text += "\n";
  }
  if (!reasons.empty()) text += "\n";
  for (std::size_t i = 0; i < reasons.size(); ++i) text += std::to_string(i + 1) + ". " + reasons[i] + "\n";
  return text;
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

std::string_view Decision::key() const { return KeyOf(settings.front()); }

std::vector<std::string> PairSettings(const MethodChoice& method, const Decision& decision) {
  return Join(method, decision.given, decision.settings);
}

std::vector<std::string> SettingsWithout(const MethodChoice& method, const Decision& decision) {
  return Join(method, decision.given, decision.otherwise);
}

StatusOr<Experiment> ReadPair(std::span<const std::string> settings) {
  auto read = ReadExperimentText(PairExperiment(), {std::string(kPairName), std::filesystem::path(".")},
                                 settings, PairExtensions());
  if (read.ok()) return read;
  return Status(read.status().code(), WithoutPlace(read.status().message(), settings));
}

std::string FormatCompatibility() {
  std::string text =
      "# Compatibility of methods and options\n\n"
      "The tables show which options work with which training methods. `no (1)` means that the combination "
      "is\n"
      "refused with the error message of note 1 below the table. Options are given as for `--set`; *with* "
      "names\n"
      "the settings that an option needs. `model.compute-as` and `disturbance` are for simulated devices "
      "only.\n"
      "`tributary compatibility` prints this page from the reader of experiment files, which decides.\n"
      "The methods:\n\n";
  for (const MethodChoice& method : MethodChoices()) {
    text += "- **" + std::string(method.name) + "**: " + Code(method.settings) + "\n";
  }
  text +=
      "\nA test runs every allowed combination for three rounds and checks that the option has an effect\n"
      "(`coordinator/compatibility_test.cc`). Another test runs one combination per method on a real fleet\n"
      "(`tests/integration/fleet_compatibility_test.sh`).\n";
  const std::span<const Decision> all = Decisions();
  for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    while (end < all.size() && all[end].topic == all[begin].topic) ++end;
    text += FormatTopic(all.subspan(begin, end - begin));
  }
  return text;
}

}  // namespace tributary::inline experiment
