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

// Reports for people and programs. Their bytes depend on the results, not on order or durations.

// E.g. "91.25". Units are in the heading. `value` must be usable (IsUsableNumber).
std::string FormatFigure(double value, const NumberFormat& format);
// E.g. "91.25 ± 0.40 (3)", or "(2 of 3)" if not all `runs` have it.
std::string FormatSpread(const SeedSpread& spread, std::size_t runs, const NumberFormat& format);

// For the terminal: the table, its legend, the sources of published figures, and the notes.
std::string FormatTextReport(const Reproduction& reproduction, const ReproductionSummary& summary);

// The same as a document, with descriptions of the arms.
std::string FormatMarkdownReport(const Reproduction& reproduction, const ReproductionSummary& summary);

// All figures unrounded: mean, sd, min, max and n per arm, with published values.
std::string FormatJsonReport(const Reproduction& reproduction, const ReproductionSummary& summary);

// One series per arm with curves, in the order of the arms: the mean over seeds, with minimum and maximum as
// band, and the number of seeds in its name.
//
// Curves of different seeds rarely have points at the same x, so they are interpolated linearly on a common
// grid. The grid covers only the range common to all curves of the arm: otherwise the mean would bend where a
// run ends. An arm without a common range has no series.
std::vector<LineSeries> MeanCurves(const Reproduction& reproduction, std::span<const ArmResult> results);

// The lines of a figure chart: one point per arm at its means, with minimum and maximum of y over seeds as
// band if there are several seeds. Arms that lack a figure are skipped, and so are lines without arms.
std::vector<LineSeries> FigureLines(const FigureChart& chart, const ReproductionSummary& summary);

// Writes OUT/summary.json, OUT/table.md, OUT/<file>.svg for each figure chart (FigureLines) and, if any run
// has a curve, OUT/curves.svg (MeanCurves); otherwise removes an older curves.svg. OUT must exist.
Status WriteReport(const Reproduction& reproduction, std::span<const ArmResult> results,
                   const std::filesystem::path& out);

}  // namespace tributary::inline reproduce
