#include "tributary/experiment/trace_file.h"

#include <gtest/gtest.h>

namespace tributary::inline experiment {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::string Refusal(std::string_view text) {
  const auto steps = ParseTrace(text, "t.csv");
  return steps.ok() ? std::string() : steps.status().message();
}

TEST(TraceFile, ReadsStepsAndPassesOverTheRest) {
  const auto steps = ParseTrace("# evening\r\n\ntime,share\n0,1\r\n 12.5 , 0.4\n60,1.0", "t.csv");
  ASSERT_TRUE(steps.ok()) << steps.status();
  EXPECT_EQ(*steps,
            (std::vector<Trace::Step>{{seconds(0), 1}, {milliseconds(12'500), 0.4}, {seconds(60), 1}}));
}

TEST(TraceFile, RefusesWithTheLine) {
  EXPECT_EQ(Refusal(""), "t.csv: the trace has no steps; a line is like 0,1.0");
  EXPECT_EQ(Refusal("1,1\n"), "t.csv:1: the first time must be 0");
  EXPECT_EQ(Refusal("0,1\n0,1\n"),
            "t.csv:2: the time 0s does not come after 0s, the one before it; times must rise");
  EXPECT_EQ(Refusal("0,1\n# x\n5,1.01\n"), "t.csv:3: the share is 1.01; allowed: from 0 to 1");
  EXPECT_EQ(Refusal("0,nan\n"), "t.csv:1: the share is nan; allowed: from 0 to 1");
  EXPECT_EQ(Refusal("0,1\ninf,1\n"), "t.csv:2: the time is inf; allowed, in seconds: from 0 to 1000000000");
  EXPECT_EQ(Refusal("0,1\ntime,share\n"),
            "t.csv:2: found 'time,share'; a line is a time in seconds, a comma and a share, like 12.5,0.4");
  EXPECT_EQ(Refusal("0,1,2\n"),
            "t.csv:1: found '0,1,2'; a line is a time in seconds, a comma and a share, like 12.5,0.4");
}

TEST(TraceFile, IsBounded) {
  std::string text;
  for (std::size_t i = 0; i <= kMostTraceSteps; ++i) text += std::to_string(i) + ",1\n";
  EXPECT_EQ(Refusal(text), "t.csv:10001: a trace may have 10000 steps");
}

}  // namespace
}  // namespace tributary::inline experiment
