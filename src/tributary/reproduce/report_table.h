#pragma once

#include <string>
#include <vector>

#include "tributary/reproduce/reproduction.h"
#include "tributary/reproduce/summary.h"

namespace tributary {

// A table as rows of texts, all as long as the heading. The first column names the row; the rest are figures.
struct ReportTable {
  std::vector<std::string> heading;
  std::vector<std::vector<std::string>> rows;
};

// A row per arm; a column per metric and comparison with ours as "mean ± deviation (runs)", and where a paper
// has a figure of it, the published one in the next column. "–" stands where there is none.
ReportTable MakeReportTable(const Reproduction& reproduction, const ReproductionSummary& summary);

// In columns for a terminal. Widths count letters, not bytes.
std::string FormatAsText(const ReportTable& table);
std::string FormatAsMarkdown(const ReportTable& table);

// "91.25". Units are in the heading. `value` is usable (see IsUsableNumber).
std::string FormatFigure(double value, const NumberFormat& format);
// "91.25 ± 0.40 (3)", or "(2 of 3)" where not all of `runs` have it.
std::string FormatSpread(const SeedSpread& spread, std::size_t runs, const NumberFormat& format);

// A text with what would be taken for markup or the end of a table's cell made harmless.
std::string EscapeMarkdown(const std::string& text);

}  // namespace tributary
