#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tributary/plot/line_chart.h"
#include "tributary/store/run_record.h"

namespace tributary::inline store {

// When a run first had an accuracy, and what it had spent by then.
struct Reached {
  TimePoint time{0};  // Of its own clock.
  RoundId round;
  Bytes bytes;  // Both ways.
};

// One run beside others. Ratios are of the first run's figure to this one's: 2 is twice as fast, or half the bytes.
struct ComparedRun {
  RunRecord run;
  std::optional<Reached> reached;  // The target; nothing if it never did.
  std::optional<double> sooner;
  std::optional<double> fewer_rounds;
  std::optional<double> fewer_bytes;
};

struct Comparison {
  double target = 0;
  std::vector<ComparedRun> runs;  // In the order given.
};

// The highest accuracy that all have reached, down to a whole percent; as it is where that would be none. Nothing if one
// was never evaluated. Central evaluations count where a run has some, else those on devices.
std::optional<double> CommonTarget(std::span<const RunHistory> runs);

Comparison Compare(std::span<const RunHistory> runs, double target);

// Accuracy over time, a line for each run, and the target.
std::string DrawComparison(std::span<const RunHistory> runs, double target);

}  // namespace tributary::inline store
