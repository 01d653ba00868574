#pragma once

#include <map>
#include <string>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/plot/line_chart.h"

namespace tributary::inline reproduce {

// A published experiment as repeated by this program: the arms compared, the metrics, and the published
// results. Plain data; the runs are made by the harness's runner.

// One side of the comparison: a method under one setting.
struct Arm {
  // Lower-case letters, digits and ". + _ -", because it is part of file names: "vgg19-optimal".
  std::string name;
  std::string description;  // one line for the reader of the table
  // Everything the results depend on except the seed. Results with another fingerprint are not reused.
  std::string fingerprint;
  // Its run with the first seed precedes all others, which may depend on it.
  bool grid = false;
};

struct NumberFormat {
  int decimals = 2;      // 0 to 9
  bool percent = false;  // multiplied by 100, with "%" as the unit
};

// A number that every run of every arm has, or leaves out: e.g. the time to a target that was not reached.
struct Metric {
  enum class Better { kHigher, kLower };

  std::string name;  // as in Measurement::numbers
  std::string unit;  // empty: none
  Better better = Better::kHigher;
  NumberFormat format;
};

// Compares arms in one metric: between runs of the same seed, then averaged over seeds, so that common
// effects of a seed do not count as spread.
struct BaselineComparison {
  enum class Kind {
    kRatio,       // arm / baseline
    kSpeedUp,     // baseline / arm
    kSaving,      // 1 − arm / baseline
    kDifference,  // arm − baseline
  };

  std::string name;  // unique among metrics and comparisons
  std::string metric;
  Kind kind = Kind::kRatio;
  std::map<std::string, std::string> baselines;  // arm → its baseline
  NumberFormat format;
};

inline constexpr BaselineComparison::Kind kComparisonKinds[] = {
    BaselineComparison::Kind::kRatio, BaselineComparison::Kind::kSpeedUp, BaselineComparison::Kind::kSaving,
    BaselineComparison::Kind::kDifference};
std::string_view NameOf(BaselineComparison::Kind kind);

// A published value, in our unit (a fraction, not a percentage, if the format is in percent).
struct Published {
  std::string arm;
  std::string figure;  // the name of a metric or a comparison
  double value = 0;
  std::string where;  // "Table 2", "Figure 5, read off"
};

// The chart of the runs' curves. Reference lines: a target, a published figure.
struct CurveChart {
  std::string title;
  std::string x_title;
  std::string y_title;
  bool log_x = false;
  std::vector<ReferenceLine> references;
};

// A chart of one figure over another: lines through the means of arms.
struct FigureChart {
  struct Line {
    std::string name;
    std::vector<std::string> arms;  // in the order of the line
  };

  std::string file;  // OUT/<file>.svg; characters as in an arm's name, and not "curves"
  std::string title;
  std::string x, y;  // metrics or comparisons
  std::string x_title, y_title;
  std::vector<Line> lines;
};

struct Reproduction {
  std::string name;
  std::string about;  // a sentence or two: the source of the experiment and what it shows
  std::vector<Arm> arms;
  std::vector<Metric> metrics;
  std::vector<BaselineComparison> comparisons;
  std::vector<Published> published;  // at most one per arm and figure
  CurveChart chart;
  std::vector<FigureChart> figure_charts;
  std::vector<std::string> notes;  // paragraphs under the table: differences from the paper
};

// Compares `arms` with `baseline`, which is left out.
std::map<std::string, std::string> AgainstOne(const std::vector<Arm>& arms, const std::string& baseline);

// Checks that names are unique, valid in file names where they are used so, and refer to existing items.
Status CheckReproduction(const Reproduction& reproduction);

}  // namespace tributary::inline reproduce
