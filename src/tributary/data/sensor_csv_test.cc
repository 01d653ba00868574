#include "tributary/data/sensor_csv.h"

#include <gtest/gtest.h>

#include <map>

#include "tributary/base/rng.h"

namespace tributary::inline data {
namespace {

using namespace std::chrono_literals;
using Words = std::vector<std::string>;

const std::string kHeading = "x,y,timestamp,label\n";

std::string Refusal(const std::string& text, const SensorCsvOptions& options = {}) {
  const auto recording = ParseSensorCsv(text, options);
  return recording.ok() ? "accepted" : recording.status().message();
}

TEST(SensorCsv, ReadsValuesTimesAndLabels) {
  const auto recording = ParseSensorCsv(kHeading +
                                        "1,-2.5,1657533977813,WALKING\n0.125,3e2,1657533977813.5,TURNING\n"
                                        "0,0,1657533977900,WALKING\n");
  ASSERT_TRUE(recording.ok()) << recording.status();
  EXPECT_EQ(recording->columns, (Words{"x", "y"}));
  EXPECT_EQ(recording->values, (std::vector<float>{1, -2.5, 0.125, 300, 0, 0}));
  EXPECT_EQ(recording->labels, (Words{"WALKING", "TURNING"}));
  EXPECT_EQ(recording->label_of_row, (std::vector<std::int32_t>{0, 1, 0}));
  EXPECT_EQ(recording->times[1] - recording->times[0], 500us);
  EXPECT_EQ(recording->times[2], std::chrono::milliseconds(1657533977900));
}

TEST(SensorCsv, FindsColumnsByName) {
  const auto recording = ParseSensorCsv("label,y,timestamp,x\nsit,2,5,1\n", {{"x", "y"}, {"walk", "sit"}});
  ASSERT_TRUE(recording.ok()) << recording.status();
  EXPECT_EQ(recording->values, (std::vector<float>{1, 2}));
  EXPECT_EQ(recording->label_of_row, (std::vector<std::int32_t>{1}));
}

TEST(SensorCsv, TakesOtherLineEnds) {
  for (const std::string text : {"\xef\xbb\xbfx,timestamp,label\r\n1,5,a\r\n", "x,timestamp,label\n1,5,a",
                                 "x,timestamp,label\n1,5,a\n\n\r\n\n"}) {
    const auto recording = ParseSensorCsv(text);
    ASSERT_TRUE(recording.ok()) << recording.status();
    EXPECT_EQ(recording->columns, Words{"x"});
    EXPECT_EQ(recording->rows(), 1U);
  }
}

TEST(SensorCsv, RefusesHeadingsInWords) {
  EXPECT_EQ(Refusal(""), "line 1: has a column without a name; the first line names the columns");
  EXPECT_EQ(Refusal("x,timestamp\n1,2\n"),
            "line 1: has no column 'label'; found 'x, timestamp'. The first line names the columns: "
            "timestamp, label and "
            "those with values");
  EXPECT_EQ(Refusal("x,x,timestamp,label\n"), "line 1: names the column 'x' twice");
  EXPECT_EQ(Refusal("timestamp,label\n1,a\n"),
            "line 1: names no column with values, only timestamp and label");
  EXPECT_EQ(Refusal(kHeading), "line 1: is the last; a heading must be followed by readings");
  const SensorCsvOptions both{{"x", "y"}, {}};
  EXPECT_EQ(Refusal("x,timestamp,label\n1,5,a\n", both),
            "line 1: has no column 'y'; expected x, y, timestamp, label");
  EXPECT_EQ(Refusal("x,y,z,timestamp,label\n", both),
            "line 1: names a column 'z'; expected x, y, timestamp, label");
  std::string wide;
  for (int i = 0; i < 300; ++i) wide += "c" + std::to_string(i) + ",";
  EXPECT_EQ(Refusal(wide + "timestamp,label\n"), "line 1: names 302 columns; allowed: 256");
}

TEST(SensorCsv, RefusesRowsWithTheirLine) {
  const std::string good = kHeading + "1,2,10,a\n";
  EXPECT_EQ(Refusal(good + "1,2,10\n"), "line 3: has 3 fields, but the first line names 4 columns");
  EXPECT_EQ(Refusal(good + "1,nan,10,a\n"), "line 3: y is 'nan'; allowed: a finite number");
  EXPECT_EQ(Refusal(good + "1,inf,10,a\n"), "line 3: y is 'inf'; allowed: a finite number");
  EXPECT_EQ(Refusal(good + "1,1e999,10,a\n"), "line 3: y is '1e999'; allowed: a finite number");
  EXPECT_EQ(Refusal(good + "1,1e39,10,a\n"), "line 3: y is '1e39'; allowed: a number up to 3.4e38");
  EXPECT_EQ(Refusal(good + ",1,10,a\n"), "line 3: x is ''; allowed: a finite number");
  EXPECT_EQ(Refusal(good + "1 ,1,10,a\n"), "line 3: x is '1 '; allowed: a finite number");
  EXPECT_EQ(
      Refusal(good + "1,2,9,a\n"),
      "line 3: timestamp is '9', earlier than in the line before; readings must be in the order of time");
  EXPECT_EQ(Refusal(good + "1,2,-9,a\n"), "line 3: timestamp is '-9'; allowed: 0 to 9e+12, in units of 1 ms");
  EXPECT_EQ(Refusal(good + "1,2,1e13,a\n"),
            "line 3: timestamp is '1e13'; allowed: 0 to 9e+12, in units of 1 ms");
  EXPECT_EQ(Refusal(good + "\n1,2,10,a\n"), "line 3: is empty; only the end of a file may have empty lines");
  EXPECT_EQ(Refusal(good + "1,2,10,\n"), "line 3: label is ''; allowed: a word of 1 to 64 bytes");
  EXPECT_EQ(Refusal(good + "1,2,10,wlak\n", {{}, {"a", "walk"}}),
            "line 3: unknown label 'wlak'; did you mean 'walk'? Known: a, walk");
  EXPECT_EQ(Refusal(good + "\x1b[31m,2,10,a\n"), "line 3: x is '?[31m'; allowed: a finite number");
}

TEST(SensorCsv, IsBounded) {
  EXPECT_EQ(Refusal(kHeading + std::string(70'000, '1') + ",2,10,a\n"),
            "line 2: has 70007 bytes; allowed: 65536");
  EXPECT_EQ(Refusal(kHeading + "1,2,10," + std::string(65, 'a') + "\n").substr(0, 20),
            "line 2: label is 'aa");
  std::string many = kHeading;
  for (int i = 0; i <= 1000; ++i) many += "1,2,10,l" + std::to_string(i) + "\n";
  EXPECT_EQ(Refusal(many), "line 1002: label is the label number 1001; allowed: 1000 different ones");
}

TEST(ParseSensorCsv, TakesTheColumnsThatAreAskedForUnderTheirNames) {
  const auto recording = ParseSensorCsv("t,note,x,what,y\n0.5,?,1,sit,2\n0.75,,3,walk,4\n",
                                        {.columns = {"y"},
                                         .others = true,
                                         .time_column = "t",
                                         .label_column = "what",
                                         .time_unit = std::chrono::seconds(1)});
  ASSERT_TRUE(recording.ok()) << recording.status();
  EXPECT_EQ(recording->values, (std::vector<float>{2, 4}));
  EXPECT_EQ(recording->times,
            (std::vector<TimePoint>{std::chrono::milliseconds(500), std::chrono::milliseconds(750)}));
  EXPECT_EQ(recording->labels, (std::vector<std::string>{"sit", "walk"}));
  EXPECT_EQ(Refusal("t,x,what\n1e10,1,a\n",
                    {.time_column = "t", .label_column = "what", .time_unit = std::chrono::seconds(1)}),
            "line 2: t is '1e10'; allowed: 0 to 9e+09, in units of 1.0 s");
  EXPECT_EQ(Refusal("x,timestamp,label\n1,2,a\n", {.label_column = "what"}),
            "line 1: has no column 'what'; found 'x, timestamp, label'. The first line names the columns: "
            "timestamp, what and "
            "those with values");
}

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

}  // namespace tributary::inline data
