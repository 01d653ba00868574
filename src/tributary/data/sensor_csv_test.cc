#include "tributary/data/sensor_csv.h"

#include <gtest/gtest.h>

namespace tributary {
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

}  // namespace
}  // namespace tributary
