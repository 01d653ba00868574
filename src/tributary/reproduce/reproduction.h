#pragma once

#include <map>
#include <string>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/plot/line_chart.h"

namespace tributary::inline reproduce {

// A published experiment as this program repeats it: what is compared, what is measured, and what the paper
// found. All of it is data. How a run is made is known to whoever hands the harness a runner.

// One side of the comparison: a method under one setting.
struct Arm {
  // Lower-case letters, digits and ". + _ -", as it is also part of a file's name: "vgg19-optimal".
  std::string name;
  std::string description;  // One line for the reader of the table.
  // Everything the arm's results depend on except the seed, in any form that changes with it: the experiment
  // file, say. Results kept from a run with another fingerprint are not used.
  std::string fingerprint;
  // Its run with the first seed comes before all others, which may depend on it.
  bool grid = false;
};

struct NumberFormat {
  int decimals = 2;      // 0 to 9.
  bool percent = false;  // Shown a hundredfold, with "%" as the unit.
};

// A number that every run of every arm gives, or leaves out where it has none: a target that was never
// reached.
struct Metric {
  enum class Better { kHigher, kLower };

  std::string name;  // As in Measurement::numbers.
  std::string unit;  // Empty for none.
  Better better = Better::kHigher;
  NumberFormat format;
};

// How arms stand to others in one metric: taken between runs of the same seed, then averaged over seeds, so
// that what a seed does to both sides does not count as spread.
struct BaselineComparison {
  enum class Kind {
    kRatio,       // arm / baseline
    kSpeedUp,     // baseline / arm
    kSaving,      // 1 − arm / baseline
    kDifference,  // arm − baseline
  };

  std::string name;  // Differs from those of metrics and other comparisons.
  std::string metric;
  Kind kind = Kind::kRatio;
  std::map<std::string, std::string> baselines;  // Arm → the arm it is compared with.
  NumberFormat format;
};

inline constexpr BaselineComparison::Kind kComparisonKinds[] = {
    BaselineComparison::Kind::kRatio, BaselineComparison::Kind::kSpeedUp, BaselineComparison::Kind::kSaving,
    BaselineComparison::Kind::kDifference};
std::string_view NameOf(BaselineComparison::Kind kind);

// What the paper says, in the same unit as ours (a share, not a percentage, where the format is in percent).
struct Published {
  std::string arm;
  std::string figure;  // The name of a metric or a comparison.
  double value = 0;
  std::string where;  // "Table 2", "Figure 5, read off".
};

// The picture of the runs' curves. Reference lines are levels to compare with: a target, a published figure.
struct CurveChart {
  std::string title;
  std::string x_title;
  std::string y_title;
  bool log_x = false;
  std::vector<ReferenceLine> references;
};

// A picture of how two figures hang together: lines through arms, each a point where its means are.
struct FigureChart {
  struct Line {
    std::string name;
    std::vector<std::string> arms;  // In the order in which they are joined.
  };

  std::string file;  // OUT/<file>.svg; letters as in an arm's name, and not "curves".
  std::string title;
  std::string x, y;  // Metrics or comparisons.
  std::string x_title, y_title;
  std::vector<Line> lines;
};

struct Reproduction {
  std::string name;
  std::string about;  // A sentence or two: whose experiment this is and what it shows.
  std::vector<Arm> arms;
  std::vector<Metric> metrics;
  std::vector<BaselineComparison> comparisons;
  std::vector<Published> published;  // At most one for an arm and a figure; there may be none.
  CurveChart chart;
  std::vector<FigureChart> figure_charts;  // There may be none.
  std::vector<std::string> notes;          // Under the table, a paragraph each: what differs from the paper.
};

// `arms`, each compared with `baseline`, which is left out of them.
std::map<std::string, std::string> AgainstOne(const std::vector<Arm>& arms, const std::string& baseline);

// Whether names are unique, can be part of a file's name where they are, and refer to what exists.
Status CheckReproduction(const Reproduction& reproduction);

}  // namespace tributary::inline reproduce
