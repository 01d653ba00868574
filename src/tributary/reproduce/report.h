#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/plot/line_chart.h"
#include "tributary/reproduce/reproduction.h"
#include "tributary/reproduce/result_file.h"
#include "tributary/reproduce/summary.h"

namespace tributary::inline reproduce {

// What a reproduction leaves for people and for other programs. The same results give the same bytes,
// whatever their order and however long they took.

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

// For the terminal: the table, what its figures are, where the published ones come from, and the notes.
std::string FormatTextReport(const Reproduction& reproduction, const ReproductionSummary& summary);

// The same as a document, with what each arm is.
std::string FormatMarkdownReport(const Reproduction& reproduction, const ReproductionSummary& summary);

// Every figure unrounded: mean, sd, min, max and n per arm, published values beside them.
std::string FormatJsonReport(const Reproduction& reproduction, const ReproductionSummary& summary);

// One series per arm that has curves, in the order of the arms: the mean over its seeds, with the lowest and
// highest as its band, and how many seeds they are in its name.
//
// Curves of different seeds seldom have points at the same x, so each is joined by straight lines and all are
// read on a common grid. The grid covers only what every curve of the arm covers: a mean over fewer seeds
// towards the end would bend where a run ends. An arm whose curves have no x in common has no series.
std::vector<LineSeries> MeanCurves(const Reproduction& reproduction, std::span<const ArmResult> results);

// The lines of a chart of figures: a point for each of their arms at its means, with the lowest and highest y over seeds
// as its band where there are several. Arms that lack one of the two figures are passed over, and so is a line that has
// no arm left.
std::vector<LineSeries> FigureLines(const FigureChart& chart, const ReproductionSummary& summary);

// Writes OUT/summary.json, OUT/table.md and, when any run has a curve, OUT/curves.svg (MeanCurves); without
// curves an older picture is removed, as it shows something else. Also writes OUT/<file>.svg for each of the reproduction's
// charts of figures (FigureLines). OUT must exist.
Status WriteReport(const Reproduction& reproduction, std::span<const ArmResult> results,
                   const std::filesystem::path& out);

}  // namespace tributary::inline reproduce
