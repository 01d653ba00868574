#include "tributary/reproduce/study_text.h"

#include <algorithm>

#include "tributary/base/names.h"
#include "tributary/reproduce/result_file.h"
#include "tributary/reproduce/study.h"

namespace tributary::inline reproduce {
namespace {

// Far beyond any readable study; they bound the cost of a hostile text.
constexpr std::size_t kMostTexts = 64;
constexpr std::size_t kLongestFilled = 10'000;

constexpr Range kSamples{.low = 1, .high = 1e12};
constexpr Range kDrawnRates{.low = 0, .high = 1e9};
constexpr std::array<Word<Metric::Better>, 2> kDirections = {
    {{"higher", Metric::Better::kHigher}, {"lower", Metric::Better::kLower}}};
constexpr std::array<Word<RateSetting::Shape>, 2> kShapes = {
    {{"uniform", RateSetting::Shape::kUniform}, {"normal", RateSetting::Shape::kNormal}}};

ValueForm MoreWords(Words& field) {
  return Own(&field, {},
             [&field](const Value& value, const Spot& spot) {
               const auto* table = std::get_if<Table>(&value.content);
               for (const KeyValue& member : table == nullptr ? Table() : *table) {
                 const auto* text = std::get_if<std::string>(&member.value.content);
                 if (text == nullptr) table = nullptr;
                 if (table == nullptr) break;
                 field.insert_or_assign(member.key, *text);
               }
               if (table != nullptr) return OkStatus();
               return spot.Refuse(value, " must be a table of texts, like { name = \"text\" }");
             },
             {});
}

OptionList DrawnKeys(RateSetting& drawn) {
  OptionList list;
  list.Add("distribution", OneOf(drawn.shape, kShapes, "distribution"));
  list.Add("mean", Number(drawn.mean, kDrawnRates)).Required();
  list.Add("deviation", Number(drawn.deviation, kDrawnRates)).Required();
  list.Add("least", Number(drawn.least, kDrawnRates));
  return list;
}

void AddFormat(OptionList& list, NumberFormat& format) {
  list.Add("decimals", Whole(format.decimals, {0, 9}));
  list.Add("percent", Flag(format.percent));
}

OptionList MetricKeys(Metric& metric, bool epochs) {
  OptionList list;
  list.Add("name", OneOf(metric.name, epochs ? NumbersOfEpochs() : NumbersOfRuns(), "metric")).Required();
  list.Add("unit", Text(metric.unit));
  list.Add("better", OneOf(metric.better, kDirections, "direction"));
  AddFormat(list, metric.format);
  return list;
}

OptionList ComparisonKeys(ComparisonText& comparison) {
  OptionList list;
  list.Add("name", Text(comparison.name)).Required();
  list.Add("metric", Text(comparison.metric)).Required();
  list.Add("kind", OneOf(comparison.kind, kComparisonKinds, "comparison"));
  list.Add("baseline", Text(comparison.baseline));
  AddFormat(list, comparison.format);
  return list;
}

OptionList PublishedKeys(PublishedText& published) {
  OptionList list;
  list.Add("arms", MoreTexts(published.arms)).Required();
  list.Add("figure", Text(published.figure)).Required();
  list.Add("value", Number(published.value, {.low = -kLargestNumber, .high = kLargestNumber})).Required();
  list.Add("where", Text(published.where)).Required();
  return list;
}

OptionList FigureLineKeys(FigureChart::Line& line) {
  OptionList list;
  list.Add("name", Text(line.name)).Required();
  list.Add("arms", MoreTexts(line.arms)).Required();
  return list;
}

OptionList FigureChartKeys(FigureChart& chart) {
  OptionList list;
  list.Add("file", Text(chart.file)).Required();
  list.Add("x", Text(chart.x)).Required();
  list.Add("y", Text(chart.y)).Required();
  list.Add("title", Text(chart.title));
  list.Add("x-title", Text(chart.x_title));
  list.Add("y-title", Text(chart.y_title));
  list.Add("line", StudyTables(chart.lines, FigureLineKeys));
  return list;
}

}  // namespace

ValueForm MoreTexts(std::vector<std::string>& field) {
  return Own(&field, {},
             [&field](const Value& value, const Spot& spot) {
               const auto* list = std::get_if<List>(&value.content);
               const auto is_text = [](const Value& item) {
                 return std::holds_alternative<std::string>(item.content);
               };
               if (list == nullptr || list->size() > kMostTexts || !std::ranges::all_of(*list, is_text))
                 return spot.RefuseAs(value, "a list of texts, at most " + std::to_string(kMostTexts));
               for (const Value& item : *list) field.push_back(std::get<std::string>(item.content));
               return OkStatus();
             },
             {});
}

ValueForm SizeForm(std::string& field) { return OneOf(field, {"quick", "full"}, "size"); }

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
    if (filled.size() > kLongestFilled) return InvalidArgument("a text with its words replaced is too long");
  }
  return filled;
}

void AddSettings(OptionList& list, StudySettings& settings) {
  list.Add("set", MoreTexts(settings.set));
  list.Add("notes", MoreTexts(settings.notes));
  list.Add("words", MoreWords(settings.words));
  list.Add("seeds", Whole(settings.seeds, {1, 1000}));
  list.Add("epochs", Whole(settings.epochs, {1, 10'000}));
  list.Add("target-accuracy", Number(settings.accuracy, kPositiveShare));
  list.Add("target-loss", Number(settings.loss, kPositive));
  list.Add("target-evaluations", Whole(settings.evaluations, {1, 1000}));
  list.Add("samples", Number(settings.samples, kSamples));
  list.Add("samples-per-evaluation", Number(settings.samples_per_evaluation, kSamples));
}

void AddArmKeys(OptionList& list, std::string& text, ArmText& arm) {
  list.Add("text", Text(text));
  list.Add("preset", Text(arm.preset));
  list.Add("within", Text(arm.within));
  list.Add("grid", Text(arm.grid));
  list.Add("tuned", Text(arm.tuned));
  list.Add("counterpart", Flag(arm.counterpart));
  list.Add("curve", Flag(arm.curve));
  list.Add("once", Flag(arm.once));
  list.Add("samples", Number(arm.samples, kSamples));
  list.Add("trained", Whole(arm.trained, {0, 10'000}));
  list.Add("set", MoreTexts(arm.set));
  list.Add("against", MoreWords(arm.against));
  ValueForm drawn = Section(&arm.drawn, [&arm] { return DrawnKeys(arm.drawn.emplace()); });
  drawn.optional = true;
  list.Add("drawn-stream-rates", std::move(drawn));
}

void AddFigures(OptionList& list, const StudySettings& settings, Reproduction& reproduction,
                FiguresText& figures) {
  list.Add("metric", StudyTables(reproduction.metrics, [&settings](Metric& metric) {
             return MetricKeys(metric, settings.epochs > 0);
           }));
  list.Add("comparison", StudyTables(figures.comparisons, ComparisonKeys));
  list.Add("published", StudyTables(figures.published, PublishedKeys));
  CurveChart& chart = reproduction.chart;
  list.Add("chart", Section(&chart, [&] {
             OptionList keys;
             keys.Add("title", Text(chart.title))
                 .Otherwise([&] { chart.title = reproduction.name; }, "the study's name");
             keys.Add("x-title", Text(chart.x_title))
                 .Otherwise([&] { chart.x_title = "virtual seconds"; }, "virtual seconds");
             keys.Add("y-title", Text(chart.y_title))
                 .Otherwise([&] { chart.y_title = settings.loss ? "loss" : "test accuracy"; },
                            "the target's");
             keys.Add("log-x", Flag(chart.log_x));
             keys.Add("target-name", Text(figures.target_name));
             return keys;
           }));
  list.Add("figure", StudyTables(reproduction.figure_charts, FigureChartKeys));
}

const std::vector<std::string>& NumbersOfRuns() {
  static const std::vector<std::string> numbers = {
      "accuracy",           "final accuracy",   "final loss",           "virtual seconds",
      "seconds per round",  "waiting share",    "megabytes up",         "megabytes",
      "time to target",     "compressed steps", "megabytes per update", "buffered samples",
      "kilobytes injected", "limited updates"};
  return numbers;
}

const std::vector<std::string>& NumbersOfEpochs() {
  static const std::vector<std::string> numbers = {
      "accuracy", "seconds per epoch", "planned seconds", "deviation", "steps", "planning share"};
  return numbers;
}

}  // namespace tributary::inline reproduce
