#include "tributary/telemetry/prometheus.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tributary/telemetry/testing_exposition.h"

namespace tributary::inline telemetry {
namespace {

using namespace std::chrono_literals;

StrictExposition Strictly(const PrometheusSink& sink) {
  StrictExposition exposition;
  const std::string text = sink.Text();
  EXPECT_EQ(exposition.Read(text), "") << text;
  return exposition;
}

void WriteRound(PrometheusSink& sink, std::uint64_t round, std::uint64_t devices) {
  for (std::uint64_t i = 0; i < devices; ++i) {
    sink.Write({1s, DeviceFinished{.round = {round},
                                   .device = {i},
                                   .outcome = i == 1 ? Outcome::kLate : Outcome::kApplied,
                                   .pull = 1s,
                                   .compute = 2s,
                                   .push = 3s,
                                   .wait = Duration(1s) * static_cast<int>(i),
                                   .down = {10},
                                   .up = {20},
                                   .stream_rate = 5.5,
                                   .buffered = 7,
                                   .trained_share = 0.5,
                                   .coding = 4s}});
  }
  sink.Write({2s, RoundFinished{.round = {round},
                                .duration = 10s,
                                .applied = devices - 1,
                                .late = 1,
                                .train_loss = 0.25,
                                .buffered = 21,
                                .overlap = 0.75,
                                .bytes_down = {30},
                                .bytes_up = {60}}});
}

TEST(PrometheusSink, SaysWhatTheEventsAddUpTo) {
  PrometheusSink sink;
  sink.Write({0s, RunStarted{.experiment = "first",
                             .seed = 3,
                             .method = "federated",
                             .model = "cnn",
                             .data = "glyphs",
                             .devices = 3,
                             .parameters = 1000,
                             .rounds = 9}});
  WriteRound(sink, 1, 3);
  WriteRound(sink, 2, 3);
  sink.Write({5s, Evaluated{.round = {2}, .accuracy = 0.5, .loss = 1.5}});
  const StrictExposition found = Strictly(sink);
  const auto at = [&](const char* series) {
    return found.samples.contains(series) ? found.samples.at(series) : NAN;
  };
  EXPECT_EQ(
      at(R"(tributary_run_info{experiment="first",seed="3",method="federated",model="cnn",data="glyphs"})"),
      1);
  EXPECT_EQ(at("tributary_running"), 1);
  EXPECT_EQ(at("tributary_rounds_total"), 2);
  EXPECT_EQ(at("tributary_rounds_planned"), 9);
  EXPECT_EQ(at("tributary_run_seconds"), 5);
  EXPECT_EQ(at(R"(tributary_contributions_total{outcome="applied"})"), 4);
  EXPECT_EQ(at(R"(tributary_contributions_total{outcome="late"})"), 2);
  EXPECT_EQ(at(R"(tributary_bytes_total{direction="up"})"), 120);
  EXPECT_EQ(at(R"(tributary_accuracy{where="central"})"), 0.5);
  EXPECT_EQ(at("tributary_train_loss"), 0.25);
  EXPECT_DOUBLE_EQ(at("tributary_waiting_share"), 0.1);  // 0, 1 and 2 of three times 10 seconds
  EXPECT_EQ(at("tributary_kept_share"), 0.5);
  EXPECT_EQ(at(R"(tributary_device_rounds_total{device="1",outcome="missed"})"), 2);
  EXPECT_EQ(at(R"(tributary_device_seconds_total{device="2",activity="transfer"})"), 8);
  EXPECT_EQ(at(R"(tributary_device_seconds_total{device="2",activity="waiting"})"), 4);
  EXPECT_EQ(at(R"(tributary_device_coding_seconds_total{device="2"})"), 8);
  EXPECT_EQ(at(R"(tributary_device_stream_rate{device="0"})"), 5.5);
  EXPECT_EQ(found.types.at("tributary_device_bytes_total"), "counter");
  sink.Write({6s, RunFinished{2, RunEnd::kRounds, 0.5}});
  EXPECT_EQ(Strictly(sink).samples.at("tributary_running"), 0);
}

TEST(PrometheusSink, NamesSoManyDevicesAndSumsUpTheRest) {
  PrometheusSink sink(4);
  WriteRound(sink, 1, 1000);
  const StrictExposition found = Strictly(sink);
  std::size_t of_bytes = 0;
  for (const auto& [series, value] : found.samples)
    of_bytes += series.starts_with("tributary_device_bytes_total") ? 1 : 0;
  EXPECT_EQ(of_bytes, 2 * (4U + 1));
  EXPECT_EQ(found.samples.at(R"(tributary_device_bytes_total{device="3",direction="up"})"), 20);
  EXPECT_EQ(found.samples.at(R"(tributary_device_bytes_total{device="other",direction="up"})"), 20.0 * 996);
  EXPECT_FALSE(found.samples.contains(R"(tributary_device_stream_rate{device="other"})"));
}

TEST(PrometheusSink, AnyTextAndNumberIsWrittenLegally) {
  PrometheusSink sink;
  sink.Write({0s, RunStarted{.experiment = "a\"b\\c\nd\xff", .method = "\\"}});
  sink.Write({0s, RoundFinished{.round = {1}, .train_loss = NAN}});
  sink.Write({0s, Evaluated{.round = {1}, .accuracy = 0, .loss = INFINITY}});
  const StrictExposition found = Strictly(sink);
  EXPECT_TRUE(std::isnan(found.samples.at("tributary_train_loss")));
  EXPECT_EQ(found.samples.at(R"(tributary_loss{where="central"})"), INFINITY);
  bool seen = false;
  for (const auto& [series, value] : found.samples) {
    seen = seen || series.find("experiment=\"a\"b\\c\nd\xEF\xBF\xBD\"") != std::string::npos;
  }
  EXPECT_TRUE(seen) << sink.Text();
}

TEST(PrometheusSink, StartsOverWithARun) {
  PrometheusSink sink;
  WriteRound(sink, 1, 3);
  sink.Write({0s, RunStarted{}});
  EXPECT_EQ(Strictly(sink).samples.at("tributary_rounds_total"), 0);
}

TEST(StrictExposition, FindsWhatIsWrong) {
  const auto problem = [](std::string_view text) { return StrictExposition().Read(text); };
  EXPECT_EQ(problem("# HELP a b\n# TYPE a gauge\na 1\n"), "");
  EXPECT_NE(problem("a 1\n"), "");
  EXPECT_NE(problem("# HELP a b\n# TYPE a gauge\na 1\na 1\n"), "");
  EXPECT_NE(problem("# HELP a b\n# TYPE a gauge\na{x=\"\\t\"} 1\n"), "");
  EXPECT_NE(problem("# HELP a b\n# TYPE a counter\na 1\n"), "");
  EXPECT_NE(problem("# HELP a b\n# TYPE a gauge\na 1"), "");
  EXPECT_NE(problem("# HELP a b\n# TYPE a gauge\na{x=\"1\",x=\"2\"} 1\n"), "");
}

}  // namespace
}  // namespace tributary::inline telemetry
