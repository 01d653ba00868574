#include "tributary/data/sensor_windows.h"

#include <gtest/gtest.h>

#include <map>

#include "tributary/base/rng.h"

namespace tributary {
namespace {

using namespace std::chrono_literals;

// One value a row, its number.
SensorRecording Recording(const std::vector<Duration>& times, const std::vector<std::int32_t>& labels) {
  SensorRecording recording{
      .columns = {"x"}, .labels = {"a", "b", "c"}, .values = {}, .times = times, .label_of_row = labels};
  for (std::size_t i = 0; i < times.size(); ++i) recording.values.push_back(static_cast<float>(i));
  return recording;
}

TEST(CutWindows, SlideByTheHopAndStartAnewAfterAGap) {
  const std::vector<Duration> times = {0ms, 10ms, 20ms, 30ms, 40ms, 500ms, 510ms, 510ms, 520ms, 530ms};
  const auto windows = CutWindows(Recording(times, std::vector<std::int32_t>(10, 1)),
                                  {.length = 3, .hop = 2, .longest_gap = 100ms});
  EXPECT_EQ(windows, (std::vector<SensorWindow>{{0, 1, 20ms}, {2, 1, 40ms}, {5, 1, 510ms}, {7, 1, 530ms}}));
}

TEST(CutWindows, HaveTheLabelOfTheMajorityOrAreLeftOut) {
  std::vector<Duration> times(10, 0ms);
  const auto label = [&](std::vector<std::int32_t> labels, double majority) {
    const auto windows =
        CutWindows(Recording(times, labels), {.length = 10, .hop = 10, .majority = majority});
    return windows.empty() ? -1 : windows[0].label;
  };
  EXPECT_EQ(label({0, 0, 0, 0, 2, 2, 2, 2, 2, 2}, 0.6), 2);
  EXPECT_EQ(label({0, 0, 0, 0, 1, 2, 2, 2, 2, 2}, 0.6), -1);
  EXPECT_EQ(label({0, 0, 0, 0, 0, 0, 0, 0, 0, 2}, 1), -1);
  EXPECT_EQ(label({0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 1), 0);
}

// The oracle asks of every row whether a window starts there, from the definitions of the header alone.
std::vector<SensorWindow> Naive(const SensorRecording& recording, const WindowOptions& options) {
  const auto gap_before = [&](std::size_t row) {
    return row > 0 && recording.times[row] - recording.times[row - 1] > options.longest_gap;
  };
  std::vector<SensorWindow> windows;
  for (std::size_t first = 0; first + options.length <= recording.rows(); ++first) {
    std::size_t stretch = first;
    while (stretch > 0 && !gap_before(stretch)) --stretch;
    if ((first - stretch) % options.hop != 0) continue;
    bool whole = true;
    std::map<std::int32_t, int> rows;
    for (std::size_t i = first; i < first + options.length; ++i) {
      if (i > first && gap_before(i)) whole = false;
      ++rows[recording.label_of_row[i]];
    }
    for (const auto& [label, count] : rows) {
      if (whole && count >= options.majority * static_cast<double>(options.length)) {
        windows.push_back({first, label, recording.times[first + options.length - 1]});
      }
    }
  }
  return windows;
}

TEST(CutWindows, AgreeWithTheDefinition) {
  Rng rng(3);
  std::size_t found = 0;
  for (int turn = 0; turn < 300; ++turn) {
    std::vector<Duration> times;
    std::vector<std::int32_t> labels;
    Duration now{0};
    std::int32_t label = 0;
    for (std::uint64_t i = 0, rows = rng.Below(120); i < rows; ++i) {
      now += rng.Below(20) == 0 ? Duration(300ms) : Duration(10ms) * static_cast<std::int64_t>(rng.Below(3));
      if (rng.Below(8) == 0) label = static_cast<std::int32_t>(rng.Below(3));
      times.push_back(now);
      labels.push_back(label);
    }
    const WindowOptions options{.length = 1 + rng.Below(9),
                                .hop = 1 + rng.Below(5),
                                .longest_gap = 250ms,
                                .majority = 0.51 + 0.49 * rng.Uniform()};
    const SensorRecording recording = Recording(times, labels);
    const auto windows = CutWindows(recording, options);
    EXPECT_EQ(windows, Naive(recording, options));
    found += windows.size();
  }
  EXPECT_GT(found, 1000U);
}

}  // namespace
}  // namespace tributary
