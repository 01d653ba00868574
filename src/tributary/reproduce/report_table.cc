#include "tributary/reproduce/report_table.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "tributary/base/text_table.h"

namespace tributary {
namespace {

const std::string kNone = "–";

// A column of ours, and one of the papers' where they have any.
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

}  // namespace

ReportTable MakeReportTable(const Reproduction& reproduction, const ReproductionSummary& summary) {
  ReportTable table;
  table.heading.push_back("arm");
  for (const ArmSummary& arm : summary.arms) table.rows.push_back({arm.arm});
  for (const Metric& metric : reproduction.metrics) {
    const char* arrow = metric.better == Metric::Better::kHigher ? " ↑" : " ↓";
    AddFigure(metric.name, WithUnit(metric.name, metric.unit, metric.format) + arrow, metric.format,
              reproduction, summary, table);
  }
  for (const Comparison& comparison : reproduction.comparisons) {
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

std::string FormatFigure(double value, const NumberFormat& format) {
  std::array<char, 64> buffer{};
  const auto [end, error] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), format.percent ? value * 100 : value,
                    std::chars_format::fixed, format.decimals);
  TRIBUTARY_CHECK(error == std::errc());
  std::string text(buffer.data(), end);
  // A zero has no sign, however it was rounded.
  if (text.front() == '-' && text.find_first_of("123456789") == std::string::npos) text.erase(0, 1);
  return text;
}

std::string FormatSpread(const SeedSpread& spread, std::size_t runs, const NumberFormat& format) {
  std::string text = FormatFigure(spread.mean, format);
  if (spread.deviation.has_value()) text += " ± " + FormatFigure(*spread.deviation, format);
  text += " (" + std::to_string(spread.runs);
  return text + (spread.runs < runs ? " of " + std::to_string(runs) + ")" : ")");
}

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

}  // namespace tributary
