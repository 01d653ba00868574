#include "tributary/telemetry/live_view.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace tributary::inline telemetry {
namespace {

using namespace std::chrono_literals;

// What a view of these events leaves on its stream; the person's clock goes a second per event.
std::string Shown(ProgressStyle style, const std::vector<Event>& events, std::size_t columns = 100) {
  char* memory = nullptr;
  std::size_t size = 0;
  std::FILE* const file = ::open_memstream(&memory, &size);
  VirtualClock clock;
  {
    LiveView view(clock, file, {style, columns});
    for (const Event& event : events) {
      clock.AdvanceTo(clock.Now() + 1s);
      view.Write(event);
    }
  }
  std::fclose(file);
  std::string text(memory, size);
  std::free(memory);
  return text;
}

RunStarted Started(std::uint64_t rounds) {
  return {"first", 1, "federated", "mlp", "", "glyphs", 2, 1'000, rounds};
}

std::vector<Event> TwoRounds() {
  return {
      {0s, Started(2)},
      {0s, Evaluated{{0}, EvaluatedWhere::kCentral, 0.1, 2.3, 100}},
      {0s, RoundStarted{{1}, 2}},
      {4s, DeviceFinished{.round = {1}, .device = {0}}},
      {5s, DeviceFinished{.round = {1}, .device = {1}, .outcome = Outcome::kRefused, .reason = "not finite"}},
      {5s, RoundFinished{.round = {1}, .duration = 5s, .applied = 1, .refused = 1, .slowest = DeviceId{1}}},
      {5s, Evaluated{{1}, EvaluatedWhere::kCentral, 0.25, 2.0, 100}},
      {5s, RoundStarted{{2}, 2}},
      {9s, DeviceFinished{.round = {2}, .device = {0}}},
      {9s, DeviceFinished{.round = {2}, .device = {1}, .outcome = Outcome::kRefused, .reason = "not finite"}},
      {9s, RoundFinished{.round = {2}, .duration = 4s, .applied = 1, .refused = 1, .slowest = DeviceId{1}}},
      {9s, Note{"saved"}},
      {9s, RunFinished{2, RunEnd::kRounds, 0.25}}};
}

TEST(LiveView, PlainLinesTellTheRun) {
  EXPECT_EQ(Shown(ProgressStyle::kPlain, TwoRounds()),
            "first: federated of mlp on glyphs, 2 devices, 1.00 k parameters, seed 1\n"
            "round 0/2  after 0 µs  accuracy 10.0 %\n"
            "round 1: device 1 refused: not finite\n"
            "round 1/2  after 5.0 s  1/2 applied, 1 refused  accuracy 25.0 %  slowest device 1\n"
            "round 2/2  after 9.0 s  1/2 applied, 1 refused  slowest device 1\n"
            "saved\n"
            "finished after 2 rounds and 9.0 s, accuracy 25.0 %\n");
}

TEST(LiveView, ATerminalHasOneLineThatOverwritesItself) {
  const std::string text = Shown(ProgressStyle::kTerminal, TwoRounds());
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  // Rounds leave no lines: only the start, the first refusal, the note, the last state and the end do.
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5);
  EXPECT_NE(text.find("\r  0%  round 1/2  4.0 s  1/2 back  accuracy 10.0 %"), std::string::npos) << text;
  EXPECT_NE(text.find("\r 50%  round 2/2  5.0 s  0/2 back  accuracy 25.0 %  slowest device 1  7 s left"),
            std::string::npos)
      << text;
  EXPECT_TRUE(
      text.ends_with("\r100%  round 2/2  9.0 s  accuracy 25.0 %  slowest device 1  in 12.0 s\n"
                     "finished after 2 rounds and 9.0 s, accuracy 25.0 %\n"))
      << text;
}

TEST(LiveView, NeverWiderThanTheTerminal) {
  const std::string text = Shown(ProgressStyle::kTerminal, TwoRounds(), 20);
  EXPECT_NE(text.find("\r  0%  round 1/2  4.\r"), std::string::npos) << text;
}

TEST(LiveView, QuietIsQuiet) { EXPECT_EQ(Shown(ProgressStyle::kQuiet, TwoRounds()), ""); }

TEST(LiveView, ALongRunShowsSomeRoundsAndEveryEvaluation) {
  std::vector<Event> events = {{0s, Started(1'000)}};
  for (std::uint64_t round = 1; round <= 1'000; ++round) {
    // Not push_back, in whose moves GCC 12 sees members of other alternatives, uninitialised.
    events.insert(events.end(),
                  {{0s, RoundStarted{{round}, 1}}, {0s, RoundFinished{.round = {round}, .applied = 1}}});
    if (round == 7) {
      events.insert(events.end(), {{0s, Evaluated{{round}, EvaluatedWhere::kDevices, 0.5, 1, 1}}});
    }
  }
  const std::string text = Shown(ProgressStyle::kPlain, events);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1 + 201 + 1);
  EXPECT_NE(text.find("round 7/1000  after 0 µs  1/1 applied  accuracy 50.0 % on devices\n"),
            std::string::npos);
  EXPECT_TRUE(text.ends_with("round 1000/1000  after 0 µs  1/1 applied\n"));  // Though nothing came after it.
}

TEST(LiveView, WithoutAPlanThereIsNoShareAndNoTimeLeft) {
  std::vector<Event> events = TwoRounds();
  events[0].what = Started(0);
  const std::string text = Shown(ProgressStyle::kTerminal, events);
  EXPECT_NE(text.find("\rround 2  5.0 s  0/2 back  accuracy 25.0 %"), std::string::npos) << text;
  EXPECT_EQ(text.find("left"), std::string::npos);
  EXPECT_EQ(text.find("% ["), std::string::npos);
}

TEST(LiveView, ARunThatBreaksOffEndsItsLine) {
  const auto events = TwoRounds();
  const std::string text = Shown(ProgressStyle::kTerminal, {events.begin(), events.begin() + 4});
  EXPECT_TRUE(text.ends_with("\n"));
  EXPECT_TRUE(Shown(ProgressStyle::kPlain, {events.begin(), events.begin() + 6})
                  .ends_with("round 1/2  after 5.0 s  1/2 applied, 1 refused  slowest device 1\n"));
}

}  // namespace
}  // namespace tributary::inline telemetry
