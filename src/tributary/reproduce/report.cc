#include "tributary/reproduce/report.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "tributary/base/file.h"
#include "tributary/base/text_table.h"

namespace tributary::inline reproduce {
namespace {

using Json = nlohmann::ordered_json;

const std::string kNone = "–";

// All rows are as long as the heading; the first column names the row.
struct ReportTable {
  std::vector<std::string> heading;
  std::vector<std::vector<std::string>> rows;
};

// Adds a column of our values and, if there are any, one of published values.
void AddFigure(const std::string& name, const std::string& heading, const NumberFormat& format,
               const Reproduction& reproduction, const ReproductionSummary& summary, ReportTable& table) {
  std::vector<std::string> published(summary.arms.size(), kNone);
  bool any = false;
  for (const Published& figure : reproduction.published) {
    for (std::size_t i = 0; i < summary.arms.size(); ++i) {
      if (figure.figure != name || figure.arm != summary.arms[i].arm) continue;
      published[i] = FormatFigure(figure.value, format);
      any = true;
    }
  }
  table.heading.push_back(heading);
  if (any) table.heading.push_back("published");
  for (std::size_t i = 0; i < summary.arms.size(); ++i) {
    const ArmSummary& arm = summary.arms[i];
    const auto ours = arm.figures.find(name);
    table.rows[i].push_back(ours == arm.figures.end() ? kNone : FormatSpread(ours->second, arm.runs, format));
    if (any) table.rows[i].push_back(published[i]);
  }
}

std::string WithUnit(const std::string& name, const std::string& unit, const NumberFormat& format) {
  const std::string shown = format.percent ? "%" : unit;
  return shown.empty() ? name : name + " (" + shown + ")";
}

std::string Legend(const ReproductionSummary& summary) {
  std::string text = "Mean ± standard deviation over seeds, and in brackets how many runs have the figure.";
  if (summary.seeds.empty()) return text + " No run has finished.";
  text += summary.seeds.size() == 1 ? " Seed" : " Seeds";
  for (std::size_t i = 0; i < summary.seeds.size(); ++i)
    text += (i == 0 ? " " : ", ") + std::to_string(summary.seeds[i]);
  return text + ".";
}

// Each source in the papers once, with its figures: "Table 2: time saved of vgg19, resnet152".
std::vector<std::string> Sources(const Reproduction& reproduction) {
  std::vector<std::pair<std::string, std::string>> lines;  // source and figure; arms
  for (const Published& figure : reproduction.published) {
    const std::string key = figure.where + ": " + figure.figure;
    const auto known =
        std::find_if(lines.begin(), lines.end(), [&](const auto& line) { return line.first == key; });
    if (known == lines.end()) {
      lines.emplace_back(key, figure.arm);
    } else {
      known->second += ", " + figure.arm;
    }
  }
  std::vector<std::string> texts;
  for (const auto& [key, arms] : lines) texts.push_back(key + " of " + arms);
  return texts;
}

Json Figure(const Reproduction& reproduction, const ArmSummary& arm, const std::string& name) {
  Json json = Json::object();
  if (const auto found = arm.figures.find(name); found != arm.figures.end()) {
    const SeedSpread& spread = found->second;
    json = {{"n", spread.runs},
            {"mean", spread.mean},
            {"sd", spread.deviation.has_value() ? Json(*spread.deviation) : Json(nullptr)},
            {"min", spread.low},
            {"max", spread.high}};
  } else {
    json = {{"n", 0}};
  }
  for (const Published& figure : reproduction.published) {
    if (figure.arm != arm.arm || figure.figure != name) continue;
    json["published"] = {{"value", figure.value}, {"where", figure.where}};
  }
  return json;
}

Json ArmJson(const Reproduction& reproduction, const Arm& arm, const ArmSummary& summary) {
  Json metrics = Json::object(), comparisons = Json::object();
  for (const Metric& metric : reproduction.metrics)
    metrics[metric.name] = Figure(reproduction, summary, metric.name);
  for (const BaselineComparison& comparison : reproduction.comparisons) {
    const auto baseline = comparison.baselines.find(arm.name);
    if (baseline == comparison.baselines.end()) continue;
    Json json = {
        {"kind", NameOf(comparison.kind)}, {"metric", comparison.metric}, {"baseline", baseline->second}};
    json.update(Figure(reproduction, summary, comparison.name));
    comparisons[comparison.name] = std::move(json);
  }
  return {{"name", arm.name},
          {"description", arm.description},
          {"runs", summary.runs},
          {"metrics", std::move(metrics)},
          {"comparisons", std::move(comparisons)}};
}

Status WritePicture(LineChart chart, const std::filesystem::path& path) {
  const bool bands = std::any_of(chart.series.begin(), chart.series.end(),
                                 [](const LineSeries& series) { return !series.band.empty(); });
  if (bands) chart.y_title += ", mean and range over seeds";
  if (!chart.series.empty()) return WriteFileAtomically(path, DrawLineChart(chart));
  std::error_code error;
  std::filesystem::remove(path, error);
  if (error) return IoError("cannot remove " + path.string() + ": " + error.message());
  return OkStatus();
}

// One row per arm; one column per metric and comparison, followed by the published value if there is one.
ReportTable MakeReportTable(const Reproduction& reproduction, const ReproductionSummary& summary) {
  ReportTable table;
  table.heading.push_back("arm");
  for (const ArmSummary& arm : summary.arms) table.rows.push_back({arm.arm});
  for (const Metric& metric : reproduction.metrics) {
    const char* arrow = metric.better == Metric::Better::kHigher ? " ↑" : " ↓";
    AddFigure(metric.name, WithUnit(metric.name, metric.unit, metric.format) + arrow, metric.format,
              reproduction, summary, table);
  }
  for (const BaselineComparison& comparison : reproduction.comparisons) {
    AddFigure(comparison.name, WithUnit(comparison.name, "", comparison.format), comparison.format,
              reproduction, summary, table);
  }
  return table;
}

std::string FormatAsText(const ReportTable& table) {
  TextTable text(table.heading, TextTable::Right::kAllButFirst);
  for (const auto& row : table.rows) text.AddRow(row);
  return text.Format();
}

// Escapes markup and the ends of table cells.
std::string EscapeMarkdown(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n' || c == '\r') {
      out += ' ';
      continue;
    }
    if (std::string_view("\\`*_[]<>|#").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string FormatAsMarkdown(const ReportTable& table) {
  std::string text;
  const auto add = [&](const std::vector<std::string>& row) {
    for (const std::string& cell : row) text += "| " + EscapeMarkdown(cell) + " ";
    text += "|\n";
  };
  add(table.heading);
  for (std::size_t c = 0; c < table.heading.size(); ++c) text += c == 0 ? "|---" : "|---:";
  text += "|\n";
  for (const auto& row : table.rows) add(row);
  return text;
}

}  // namespace

std::string FormatFigure(double value, const NumberFormat& format) {
  std::array<char, 64> buffer{};
  const auto [end, error] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), format.percent ? value * 100 : value,
                    std::chars_format::fixed, format.decimals);
  TRIBUTARY_CHECK(error == std::errc());
  std::string text(buffer.data(), end);
  // No negative zero, however it was rounded.
  if (text.front() == '-' && text.find_first_of("123456789") == std::string::npos) text.erase(0, 1);
  return text;
}

std::string FormatSpread(const SeedSpread& spread, std::size_t runs, const NumberFormat& format) {
  std::string text = FormatFigure(spread.mean, format);
  if (spread.deviation.has_value()) text += " ± " + FormatFigure(*spread.deviation, format);
  text += " (" + std::to_string(spread.runs);
  return text + (spread.runs < runs ? " of " + std::to_string(runs) + ")" : ")");
}

std::string FormatTextReport(const Reproduction& reproduction, const ReproductionSummary& summary) {
  std::string text = FormatAsText(MakeReportTable(reproduction, summary)) + "\n" + Legend(summary) + "\n";
  for (const std::string& source : Sources(reproduction)) text += "Published: " + source + ".\n";
  for (const std::string& note : reproduction.notes) text += note + "\n";
  return text;
}

std::string FormatMarkdownReport(const Reproduction& reproduction, const ReproductionSummary& summary) {
  std::string text = "# " + EscapeMarkdown(reproduction.name) + "\n\n";
  if (!reproduction.about.empty()) text += reproduction.about + "\n\n";
  text += FormatAsMarkdown(MakeReportTable(reproduction, summary)) + "\n" + Legend(summary) + "\n\n";
  for (const Arm& arm : reproduction.arms) {
    text += "- " + EscapeMarkdown(arm.name);
    text += arm.description.empty() ? "\n" : ": " + EscapeMarkdown(arm.description) + "\n";
  }
  const std::vector<std::string> sources = Sources(reproduction);
  if (!sources.empty()) text += "\nPublished figures:\n\n";
  for (const std::string& source : sources) text += "- " + EscapeMarkdown(source) + "\n";
  for (const std::string& note : reproduction.notes) text += "\n" + note + "\n";
  return text;
}

std::string FormatJsonReport(const Reproduction& reproduction, const ReproductionSummary& summary) {
  Json metrics = Json::array(), arms = Json::array();
  for (const Metric& metric : reproduction.metrics) {
    const bool higher = metric.better == Metric::Better::kHigher;
    metrics.push_back(
        {{"name", metric.name}, {"unit", metric.unit}, {"better", higher ? "higher" : "lower"}});
  }
  for (std::size_t i = 0; i < reproduction.arms.size(); ++i)
    arms.push_back(ArmJson(reproduction, reproduction.arms[i], summary.arms[i]));
  const Json root = {{"schema", 1},
                     {"reproduction", reproduction.name},
                     {"about", reproduction.about},
                     {"seeds", summary.seeds},
                     {"metrics", std::move(metrics)},
                     {"arms", std::move(arms)},
                     {"notes", reproduction.notes}};
  // Invalid UTF-8 is shown with replacement characters rather than losing the figures.
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Status WriteReport(const Reproduction& reproduction, std::span<const ArmResult> results,
                   const std::filesystem::path& out) {
  const ReproductionSummary summary = Summarise(reproduction, results);
  TRIBUTARY_RETURN_IF_ERROR(
      WriteFileAtomically(out / "summary.json", FormatJsonReport(reproduction, summary)));
  TRIBUTARY_RETURN_IF_ERROR(
      WriteFileAtomically(out / "table.md", FormatMarkdownReport(reproduction, summary)));
  LineChart chart{reproduction.chart.title,      reproduction.chart.x_title,
                  reproduction.chart.y_title,    MeanCurves(reproduction, results),
                  reproduction.chart.references, reproduction.chart.log_x};
  TRIBUTARY_RETURN_IF_ERROR(WritePicture(std::move(chart), out / "curves.svg"));
  for (const FigureChart& figures : reproduction.figure_charts) {
    TRIBUTARY_RETURN_IF_ERROR(WritePicture(
        {figures.title, figures.x_title, figures.y_title, FigureLines(figures, summary), {}, false},
        out / (figures.file + ".svg")));
  }
  return OkStatus();
}

}  // namespace tributary::inline reproduce
