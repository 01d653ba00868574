#include "tributary/reproduce/study_text.h"

#include <algorithm>

#include "tributary/base/names.h"
#include "tributary/reproduce/result_file.h"
#include "tributary/reproduce/study.h"

namespace tributary::inline reproduce {
namespace {

// Far beyond any study that a person can read; they bound what a hostile text can cost.
constexpr std::size_t kMostTexts = 64;
constexpr std::size_t kLongestFilled = 10'000;

const std::vector<std::string> kKinds = {"ratio", "speed-up", "saving", "difference"};
constexpr BaselineComparison::Kind kKindValues[] = {
    BaselineComparison::Kind::kRatio, BaselineComparison::Kind::kSpeedUp, BaselineComparison::Kind::kSaving,
    BaselineComparison::Kind::kDifference};

constexpr Range kSamples{.low = 1, .high = 1e12};

Status ReadDrawn(StudyTable section, RateSetting& out) {
  std::string shape = "uniform";
  section.ReadName("distribution", "distribution", std::vector<std::string>{"uniform", "normal"}, shape);
  out.shape = shape == "uniform" ? RateSetting::Shape::kUniform : RateSetting::Shape::kNormal;
  constexpr Range kRateRange{.low = 0, .high = 1e9};
  for (const char* key : {"mean", "deviation"}) section.Require(key);
  section.Read("mean", out.mean, kRateRange);
  section.Read("deviation", out.deviation, kRateRange);
  section.Read("least", out.least, kRateRange);
  return section.Finish();
}

void ReadFormat(StudyTable& section, NumberFormat& out) {
  std::int64_t decimals = out.decimals;
  section.Read("decimals", decimals, 0, 9);
  out.decimals = static_cast<int>(decimals);
  section.Read("percent", out.percent);
}

}  // namespace

void AddTexts(StudyTable& section, std::string_view key, std::vector<std::string>& out) {
  const Value* value = section.Take(key);
  if (value == nullptr) return;
  const auto* list = std::get_if<List>(&value->content);
  const auto is_text = [](const Value& item) { return std::holds_alternative<std::string>(item.content); };
  if (list == nullptr || list->size() > kMostTexts || !std::all_of(list->begin(), list->end(), is_text)) {
    section.Fail(
        key, " is " + Describe(*value) + "; allowed: a list of texts, at most " + std::to_string(kMostTexts));
    return;
  }
  for (const Value& item : *list) out.push_back(std::get<std::string>(item.content));
}

void AddWords(StudyTable& section, std::string_view key, Words& out) {
  const Value* value = section.Take(key);
  if (value == nullptr) return;
  const auto* table = std::get_if<Table>(&value->content);
  for (const KeyValue& member : table == nullptr ? Table() : *table) {
    const auto* text = std::get_if<std::string>(&member.value.content);
    if (text == nullptr) table = nullptr;
    if (table == nullptr) break;
    out.insert_or_assign(member.key, *text);
  }
  if (table == nullptr) section.Fail(key, " must be a table of texts, like { name = \"text\" }");
}

StatusOr<std::string> Fill(std::string_view text, const Words& words) {
  std::string filled;
  while (!text.empty()) {
    const std::size_t open = text.find('{');
    filled += text.substr(0, open);
    if (open == std::string_view::npos) break;
    text.remove_prefix(open);
    const std::size_t close = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-", 1);
    if (close == std::string_view::npos || close == 1 || text[close] != '}') {
      filled += '{';
      text.remove_prefix(1);
      continue;
    }
    const auto found = words.find(std::string(text.substr(1, close - 1)));
    if (found == words.end()) {
      std::vector<std::string> known;
      for (const auto& [word, meaning] : words) known.push_back(word);
      return UnknownName("word", text.substr(1, close - 1), known);
    }
    filled += found->second;
    text.remove_prefix(close + 1);
    if (filled.size() > kLongestFilled) return InvalidArgument("a text with its words filled in is too long");
  }
  return filled;
}

void ReadSettings(StudyTable& section, StudySettings& out) {
  AddTexts(section, "set", out.set);
  AddTexts(section, "notes", out.notes);
  AddWords(section, "words", out.words);
  section.Read("seeds", out.seeds, 1, 1000);
  section.Read("epochs", out.epochs, 1, 10'000);
  section.Read("target-accuracy", out.accuracy, kPositiveShare);
  section.Read("target-loss", out.loss, kPositive);
  section.Read("target-evaluations", out.evaluations, 1, 1000);
  section.Read("samples", out.samples, kSamples);
  section.Read("samples-per-evaluation", out.samples_per_evaluation, kSamples);
}

void ReadArmKeys(StudyTable& section, ArmText& out) {
  section.Read("text", out.text);
  section.Read("preset", out.preset);
  section.Read("within", out.within);
  section.Read("grid", out.grid);
  section.Read("tuned", out.tuned);
  section.Read("counterpart", out.counterpart);
  section.Read("curve", out.curve);
  section.Read("once", out.once);
  section.Read("samples", out.samples, kSamples);
  section.Read("trained", out.trained, std::int64_t{0}, std::int64_t{10'000});
  AddTexts(section, "set", out.set);
  AddWords(section, "against", out.against);
  if (const Value* drawn = section.Take("drawn-stream-rates")) {
    StudyTable inner(section.document(), *drawn, section.PathOf("drawn-stream-rates"));
    section.Fail(ReadDrawn(std::move(inner), out.drawn.emplace()));
  }
}

void ReadFigures(StudyTable& root, bool epochs, Reproduction& reproduction,
                 std::vector<std::string>& baselines) {
  for (const Value& table : root.TakeTables("metric")) {
    StudyTable section(root.document(), table, "metric");
    Metric& metric = reproduction.metrics.emplace_back();
    std::string better = "higher";
    section.Require("name");
    section.ReadName("name", "metric", epochs ? NumbersOfEpochs() : NumbersOfRuns(), metric.name);
    section.Read("unit", metric.unit);
    section.ReadName("better", "direction", std::vector<std::string>{"higher", "lower"}, better);
    metric.better = better == "higher" ? Metric::Better::kHigher : Metric::Better::kLower;
    ReadFormat(section, metric.format);
    root.Fail(section.Finish());
  }
  for (const Value& table : root.TakeTables("comparison")) {
    StudyTable section(root.document(), table, "comparison");
    BaselineComparison& comparison = reproduction.comparisons.emplace_back();
    std::string kind = "ratio";
    for (const char* key : {"name", "metric"}) section.Require(key);
    section.Read("name", comparison.name);
    section.Read("metric", comparison.metric);
    section.ReadName("kind", "comparison", kKinds, kind);
    comparison.kind = kKindValues[std::ranges::find(kKinds, kind) - kKinds.begin()];
    section.Read("baseline", baselines.emplace_back());
    ReadFormat(section, comparison.format);
    root.Fail(section.Finish());
  }
  for (const Value& table : root.TakeTables("published")) {
    StudyTable section(root.document(), table, "published");
    Published figure;
    std::vector<std::string> arms;
    for (const char* key : {"arms", "figure", "value", "where"}) section.Require(key);
    AddTexts(section, "arms", arms);
    section.Read("figure", figure.figure);
    section.Read("value", figure.value, Range{.low = -kLargestNumber, .high = kLargestNumber});
    section.Read("where", figure.where);
    root.Fail(section.Finish());
    for (const std::string& arm : arms) {
      figure.arm = arm;
      reproduction.published.push_back(figure);
    }
  }
}

void ReadCharts(StudyTable& root, const StudySettings& settings, Reproduction& reproduction) {
  reproduction.chart = {
      reproduction.name, "virtual seconds", settings.loss ? "loss" : "test accuracy", false, {}};
  std::string target_name = "target";
  if (const Value* chart = root.Take("chart")) {
    StudyTable section(root.document(), *chart, "chart");
    section.Read("title", reproduction.chart.title);
    section.Read("x-title", reproduction.chart.x_title);
    section.Read("y-title", reproduction.chart.y_title);
    section.Read("log-x", reproduction.chart.log_x);
    section.Read("target-name", target_name);
    root.Fail(section.Finish());
  }
  const std::optional<double> target = settings.loss ? settings.loss : settings.accuracy;
  if (target) reproduction.chart.references = {{*target, target_name}};
  for (const Value& table : root.TakeTables("figure")) {
    StudyTable section(root.document(), table, "figure");
    FigureChart& chart = reproduction.figure_charts.emplace_back();
    for (const char* key : {"file", "x", "y"}) section.Require(key);
    section.Read("file", chart.file);
    section.Read("title", chart.title);
    section.Read("x", chart.x);
    section.Read("y", chart.y);
    section.Read("x-title", chart.x_title);
    section.Read("y-title", chart.y_title);
    for (const Value& one : section.TakeTables("line")) {
      StudyTable line(root.document(), one, "figure.line");
      FigureChart::Line& out = chart.lines.emplace_back();
      for (const char* key : {"name", "arms"}) line.Require(key);
      line.Read("name", out.name);
      AddTexts(line, "arms", out.arms);
      section.Fail(line.Finish());
    }
    root.Fail(section.Finish());
  }
}

std::span<const std::string> NumbersOfRuns() {
  static const std::vector<std::string> numbers = {
      "accuracy",          "final accuracy",   "final loss",           "virtual seconds",
      "seconds per round", "waiting share",    "megabytes up",         "megabytes",
      "time to target",    "compressed steps", "megabytes per update", "buffered samples",
      "kilobytes injected"};
  return numbers;
}

std::span<const std::string> NumbersOfEpochs() {
  static const std::vector<std::string> numbers = {
      "accuracy", "seconds per epoch", "planned seconds", "deviation", "steps", "planning share"};
  return numbers;
}

}  // namespace tributary::inline reproduce
