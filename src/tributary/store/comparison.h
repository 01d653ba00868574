#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tributary/plot/line_chart.h"
#include "tributary/store/run_record.h"

namespace tributary::inline store {

// When a run first reached an accuracy, and its cost until then.
struct Reached {
  TimePoint time{0};  // on the run's clock
  RoundId round;
  Bytes bytes;  // both directions
};

// One run of a comparison. Ratios are the first run's value over this run's: 2 is twice as fast.
struct ComparedRun {
  RunRecord run;
  std::optional<Reached> reached;  // the target; empty if never
  std::optional<double> sooner;
  std::optional<double> fewer_rounds;
  std::optional<double> fewer_bytes;
};

struct Comparison {
  double target = 0;
  std::vector<ComparedRun> runs;  // in the given order
};

// The highest accuracy that all runs reached, rounded down to a percent unless that is 0. Empty if a run was
// never evaluated. Central evaluations count if a run has any, else evaluations on devices.
std::optional<double> CommonTarget(std::span<const RunHistory> runs);

Comparison Compare(std::span<const RunHistory> runs, double target);

// An SVG of accuracy over time, with one line per run and the target.
std::string DrawComparison(std::span<const RunHistory> runs, double target);

}  // namespace tributary::inline store
