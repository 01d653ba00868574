#pragma once

#include <vector>

#include "tributary/plot/line_chart.h"
#include "tributary/reproduce/reproduction.h"
#include "tributary/reproduce/summary.h"

namespace tributary {

// The lines of a chart of figures: a point for each of their arms at its means, with the lowest and highest y over seeds
// as its band where there are several. Arms that lack one of the two figures are passed over, and so is a line that has
// no arm left.
std::vector<LineSeries> FigureLines(const FigureChart& chart, const ReproductionSummary& summary);

}  // namespace tributary
