#pragma once

#include <span>
#include <vector>

#include "tributary/plot/line_chart.h"
#include "tributary/reproduce/reproduction.h"
#include "tributary/reproduce/result_file.h"
#include "tributary/reproduce/summary.h"

namespace tributary::inline reproduce {

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

}  // namespace tributary::inline reproduce
