#include "tributary/telemetry/event_json.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "tributary/base/rng.h"
#include "tributary/telemetry/testing_log.h"

namespace tributary::inline telemetry {
namespace {

using namespace std::chrono_literals;

std::string RandomText(Rng& rng) {
  static const std::vector<std::string> kPieces = {"a",    " ",    "\"", "\\", "\n", "\t",
                                                   "\x01", "\x7f", "é",  "層", "𝛼",  "/"};
  std::string text;
  for (std::uint64_t left = rng.Below(6); left > 0; --left) text += kPieces[rng.Below(kPieces.size())];
  return text;
}

double RandomNumber(Rng& rng) {
  static const std::vector<double> kSpecial = {0.0,
                                               -0.0,
                                               1.0,
                                               -3.0,
                                               1e15,
                                               1e17,
                                               1e22,
                                               1e-7,
                                               0.1,
                                               1.0 / 3,
                                               0x1p60,
                                               0x1p63,
                                               0x1p64,
                                               5e-324,
                                               std::numeric_limits<double>::max(),
                                               std::numeric_limits<double>::infinity(),
                                               -std::numeric_limits<double>::infinity()};
  if (rng.Below(3) == 0) return kSpecial[rng.Below(kSpecial.size())];
  const double number = std::bit_cast<double>(rng.Next());
  return std::isnan(number) ? 0.5 : number;
}

std::optional<double> PerhapsNumber(Rng& rng) {
  return rng.Below(4) == 0 ? std::nullopt : std::optional(RandomNumber(rng));
}

// Small and full-size ones.
std::uint64_t Count(Rng& rng) { return rng.Next() >> rng.Below(64); }
std::int64_t Signed(Rng& rng) { return static_cast<std::int64_t>(rng.Next()) >> rng.Below(64); }
Duration Time(Rng& rng) { return Duration(Signed(rng)); }

Event RandomEvent(Rng& rng) {
  Event event;
  event.time = Time(rng);
  const RoundId round = {Count(rng)};
  switch (rng.Below(9)) {
    case 0:
      event.what = RunStarted{RandomText(rng), Count(rng), RandomText(rng), RandomText(rng), RandomText(rng),
                              RandomText(rng), Count(rng), Count(rng),      Count(rng)};
      break;
    case 1:
      event.what = RoundStarted{round, Count(rng)};
      break;
    case 2:
      event.what = DeviceFinished{round,
                                  {Count(rng)},
                                  static_cast<Outcome>(rng.Below(5)),
                                  RandomText(rng),
                                  Count(rng),
                                  PerhapsNumber(rng),
                                  Time(rng),
                                  Time(rng),
                                  Time(rng),
                                  Time(rng),
                                  Time(rng),
                                  Time(rng),
                                  std::nullopt,
                                  {Signed(rng)},
                                  {Signed(rng)},
                                  PerhapsNumber(rng),
                                  Count(rng),
                                  Time(rng),
                                  Count(rng),
                                  Count(rng),
                                  Count(rng)};
      if (rng.Below(2) == 0) std::get<DeviceFinished>(event.what).planned = Time(rng);
      if (rng.Below(2) == 0) std::get<DeviceFinished>(event.what).stream_first = Count(rng);
      if (rng.Below(2) == 0) std::get<DeviceFinished>(event.what).stream_last = Count(rng);
      std::get<DeviceFinished>(event.what).trained_share = PerhapsNumber(rng);
      if (rng.Below(2) == 0) std::get<DeviceFinished>(event.what).met = Count(rng);
      std::get<DeviceFinished>(event.what).relayed = {Signed(rng)};
      std::get<DeviceFinished>(event.what).coding = Time(rng);
      std::get<DeviceFinished>(event.what).clipped = rng.Below(2);
      break;
    case 3: {
      RoundFinished finished{round,         Time(rng),    Count(rng),         Count(rng),
                             Count(rng),    Count(rng),   Count(rng),         PerhapsNumber(rng),
                             std::nullopt,  Count(rng),   PerhapsNumber(rng), {Signed(rng)},
                             {Signed(rng)}, {Signed(rng)}};
      if (rng.Below(2) == 0) finished.slowest = DeviceId{Count(rng)};
      event.what = finished;
      break;
    }
    case 4:
      event.what = Evaluated{round, static_cast<EvaluatedWhere>(rng.Below(2)), RandomNumber(rng),
                             RandomNumber(rng), Count(rng)};
      break;
    case 5:
      event.what = RunFinished{Count(rng), static_cast<RunEnd>(rng.Below(4)), PerhapsNumber(rng)};
      break;
    case 6:
      event.what = RolledBack{round, {Count(rng)}, RandomText(rng)};
      break;
    case 7:
      event.what = Quarantined{round, {Count(rng)}, RandomText(rng)};
      break;
    default:
      event.what = Note{RandomText(rng)};
      break;
  }
  return event;
}

TEST(EventJson, AnyEventReadsBackAsItWas) {
  Rng rng(31);
  for (int i = 0; i < 20'000; ++i) {
    const Event event = RandomEvent(rng);
    const std::string line = EventToJson(event);
    ASSERT_EQ(line.find('\n'), std::string::npos);
    const auto again = EventFromJson(line);
    ASSERT_TRUE(again.ok()) << again.status() << "\n" << line;
    ASSERT_EQ(*again, event) << line;
    ASSERT_EQ(EventToJson(*again), line);  // Where == says the same of −0 and 0.
  }
}

// The order of keys, the spelling of names and the form of numbers are part of every digest.
TEST(EventJson, BytesAreFixed) {
  const auto line = [](auto what) { return EventToJson({1'500ms, std::move(what)}); };
  EXPECT_EQ(
      line(RunStarted{"first", 7, "sync-sgd", "resnet8", "", "glyphs", 8, 78042, 100}),
      R"({"type":"run-started","time_ns":1500000000,"experiment":"first","seed":7,"method":"sync-sgd",)"
      R"("model":"resnet8","compute_as":"","data":"glyphs","devices":8,"parameters":78042,"rounds":100})");
  EXPECT_EQ(line(RoundStarted{{3}, 8}),
            R"({"type":"round-started","time_ns":1500000000,"round":3,"participants":8})");
  EXPECT_EQ(
      line(DeviceFinished{{3},         {5},  Outcome::kRefused,
                          "a \"b\"\n", 64,   std::nan(""),
                          1ms,         2ms,  3ms,
                          4ms,         5ms,  6ms,
                          7ms,         {10}, {20},
                          2.5,         30,   8ms,
                          40,          50,   60,
                          70,          80,   0.25,
                          3,           {90}, 9ms}),
      R"({"type":"device-finished","time_ns":1500000000,"round":3,"device":5,"outcome":"refused",)"
      R"("reason":"a \"b\"\n","samples":64,"loss":"nan","pull_ns":1000000,"compute_ns":2000000,)"
      R"("push_ns":3000000,"wait_ns":4000000,"hidden_ns":5000000,"hideable_ns":6000000,"planned_ns":7000000,)"
      R"("bytes_down":10,"bytes_up":20,"stream_rate":2.5,"buffered":30,"oldest_ns":8000000,"dropped":40,)"
      R"("missing":50,"undecodable":60,"stream_first":70,"stream_last":80,"kept":0.25,"met":3,"bytes_relayed":90,)"
      R"("coding_ns":9000000})");
  EXPECT_EQ(
      line(RoundFinished{{3}, 1s, 5, 1, 2, 3, 4, 0.1, DeviceId{5}, 7, 0.5, {10}, {20}, {5}}),
      R"({"type":"round-finished","time_ns":1500000000,"round":3,"duration_ns":1000000000,"applied":5,)"
      R"("late":1,"lost":2,"refused":3,"crashed":4,"train_loss":0.1,"slowest":5,"buffered":7,"overlap":0.5,"bytes_down":10,)"
      R"("bytes_up":20,"bytes_injected":5})");
  EXPECT_EQ(
      line(Evaluated{{3}, EvaluatedWhere::kDevices, 1, -0.0, 100}),
      R"({"type":"evaluated","time_ns":1500000000,"round":3,"where":"devices","accuracy":1,"loss":-0.0,)"
      R"("samples":100})");
  EXPECT_EQ(
      line(RunFinished{3, RunEnd::kInterrupted, std::nullopt}),
      R"({"type":"run-finished","time_ns":1500000000,"rounds":3,"reason":"interrupted","accuracy":null})");
  EXPECT_EQ(line(Note{"größer"}), R"({"type":"note","time_ns":1500000000,"text":"größer"})");
}

TEST(EventJson, EveryLineIsJsonToOthersToo) {
  Rng rng(32);
  for (int i = 0; i < 1'000; ++i) EXPECT_TRUE(nlohmann::json::accept(EventToJson(RandomEvent(rng))));
}

TEST(EventJson, ALossThatIsNotANumberIsKept) {
  const Event event = {0ns, DeviceFinished{.loss = std::nan("")}};
  const auto again = EventFromJson(EventToJson(event));
  ASSERT_TRUE(again.ok()) << again.status();
  const auto& loss = std::get<DeviceFinished>(again->what).loss;
  ASSERT_TRUE(loss.has_value());
  EXPECT_TRUE(std::isnan(*loss));
}

TEST(EventJson, BytesThatAreNoTextAreReplaced) {
  const std::string line = EventToJson({0ns, Note{"a\xff\xc3"}});
  const auto again = EventFromJson(line);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(std::get<Note>(again->what).text.starts_with("a\xef\xbf\xbd"));
  EXPECT_EQ(EventToJson(*again), line);
}

TEST(EventJson, SaysWhatIsWrong) {
  const auto message = [](std::string_view line) {
    const auto event = EventFromJson(line);
    return event.ok() ? "accepted" : event.status().message();
  };
  EXPECT_EQ(message(""), "the line is not JSON");
  EXPECT_EQ(message("{\"type\":\"note\""), "the line is not JSON");
  EXPECT_EQ(message("[1]"), "an event must be a JSON object, found an array");
  EXPECT_EQ(message("{}"), "the key 'type' is missing");
  EXPECT_EQ(
      message(R"({"type":"nose"})"),
      "the key 'type' must be one of run-started, round-started, device-finished, round-finished, evaluated,"
      " run-finished, note, rolled-back, quarantined, found \"nose\"");
  EXPECT_EQ(message(R"({"type":"note","time_ns":1})"), "note: the key 'text' is missing");
  EXPECT_EQ(message(R"({"type":"note","time_ns":1.5,"text":""})"),
            "note: the key 'time_ns' must be a whole number that fits in 64 bits with its sign, found 1.5");
  EXPECT_EQ(message(R"({"type":"note","time_ns":9223372036854775808,"text":""})"),
            "note: the key 'time_ns' must be a whole number that fits in 64 bits with its sign, found"
            " 9223372036854775808");
  EXPECT_EQ(
      message(R"({"type":"round-started","time_ns":1,"round":-1,"participants":1})"),
      "round-started: the key 'round' must be a whole number of at least 0 that fits in 64 bits, found -1");
  EXPECT_EQ(
      message(R"({"type":"run-finished","time_ns":1,"rounds":1,"reason":"tired","accuracy":1})"),
      "run-finished: the key 'reason' must be one of rounds, time, target, interrupted, found \"tired\"");
  EXPECT_EQ(
      message(R"({"type":"run-finished","time_ns":1,"rounds":1,"reason":"time","accuracy":{}})"),
      "run-finished: the key 'accuracy' must be a number, \"nan\", \"inf\" or \"-inf\", found an object");
}

TEST(EventJson, SkipsKeysOfLaterVersions) {
  const auto event = EventFromJson(R"({"colour":[{}],"text":"x","time_ns":5,"type":"note"})");
  ASSERT_TRUE(event.ok()) << event.status();
  EXPECT_EQ(*event, (Event{5ns, Note{"x"}}));
}

TEST(EventJson, DeepNestingIsNoTrouble) {
  const std::string nested = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_FALSE(EventFromJson(nested).ok());
  EXPECT_FALSE(EventFromJson(R"({"type":)" + nested + "}").ok());
  EXPECT_FALSE(EventFromJson(R"({"type":"note","time_ns":)" + nested + "}").ok());
}

TEST(EventJson, ReadsWholeLogsAndNamesTheBadLine) {
  const std::string one = EventToJson({1ns, Note{"one"}}) + "\n";
  const std::string two = EventToJson({2ns, RoundStarted{{1}, 2}}) + "\n";
  const auto events = EventsFromJsonLines(one + two);
  ASSERT_TRUE(events.ok()) << events.status();
  EXPECT_EQ(*events, (std::vector<Event>{{1ns, Note{"one"}}, {2ns, RoundStarted{{1}, 2}}}));
  EXPECT_TRUE(EventsFromJsonLines("")->empty());
  EXPECT_EQ(EventsFromJsonLines(one + "nonsense\n" + two).status().message(), "line 2: the line is not JSON");
  EXPECT_EQ(EventsFromJsonLines(one + two.substr(0, 9)).status().message(),
            "line 2: the last line is cut off");
}

// Events are those of before it was measured, but for this key.
TEST(EventJson, ALogFromBeforeCodingWasMeasuredIsRead) {
  const Event event{1s, DeviceFinished{.round = {1}, .compute = 2s, .relayed = {3}}};
  std::string line = EventToJson(event);
  const std::string added = R"(,"coding_ns":0)";
  ASSERT_NE(line.find(added), std::string::npos);
  line.erase(line.find(added), added.size());
  EXPECT_EQ(EventFromJson(line).value(), event);
}

TEST(EventJson, LimitedUpdatesAreWrittenAndOthersStayAsTheyWere) {
  const std::string usual = EventToJson({1s, DeviceFinished{.round = {1}}});
  EXPECT_EQ(usual.find("clipped"), std::string::npos);
  EXPECT_EQ(usual.find("capped"), std::string::npos);
  const Event limited{1s, DeviceFinished{.round = {1}, .capped = 1, .clipped = 1}};
  EXPECT_NE(EventToJson(limited).find(R"("capped":1,"clipped":1})"), std::string::npos);
  EXPECT_EQ(EventFromJson(EventToJson(limited)).value(), limited);
}

}  // namespace
}  // namespace tributary::inline telemetry
