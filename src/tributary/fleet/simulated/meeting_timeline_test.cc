#include "tributary/fleet/simulated/meeting_timeline.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "tributary/base/rng.h"
#include "tributary/fleet/simulated/event_queue.h"

namespace tributary::inline simulated {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

MeetingTask Device(double up, double down, TimePoint computed) {
  return {.up = BitsPerSecond{up}, .down = BitsPerSecond{down}, .computed = computed};
}

TEST(Meetings, OneModelTakesItsBytesOverTheSlowerEnd) {
  const std::vector<MeetingTask> tasks = {Device(8e6, 1e9, seconds(1)), Device(1e9, 4e6, seconds(5))};
  const std::vector<MeetingFlow> flows = {{0, 1}, {1, 0}};
  const MeetingTimes times = SimulateMeetings(tasks, flows, Bytes{1'000'000});
  EXPECT_EQ(times.begins[0], seconds(1));
  EXPECT_EQ(times.ends[0], seconds(3));                    // 8 Mbit at 4 Mbit/s
  EXPECT_EQ(times.ends[1], seconds(5) + milliseconds(8));  // at 1 Gbit/s
}

TEST(Meetings, SetUpAndHalfOfEachWayComeFirst) {
  std::vector<MeetingTask> tasks = {Device(8e6, 8e6, seconds(1)), Device(8e6, 8e6, kNever)};
  tasks[0].setup = milliseconds(3);
  tasks[0].round_trip = milliseconds(20);
  tasks[1].setup = milliseconds(500);  // only what it sends itself
  tasks[1].round_trip = milliseconds(60);
  const std::vector<MeetingFlow> flows = {{0, 1}, {1, 0}};
  const MeetingTimes times = SimulateMeetings(tasks, flows, Bytes{1000});
  EXPECT_EQ(times.begins[0], seconds(1) + milliseconds(43));
  EXPECT_EQ(times.ends[0], seconds(1) + milliseconds(44));
  EXPECT_EQ(times.begins[1], kNever);
  EXPECT_EQ(times.ends[1], kNever);
}

TEST(Meetings, NeighboursShareALink) {
  // From one to two: half each, and when the slower end of one holds it back, the other half stays a half.
  const std::vector<MeetingTask> tasks = {Device(8e6, 1e9, seconds(0)), Device(1e9, 2e6, seconds(0)),
                                          Device(1e9, 1e9, seconds(0))};
  const std::vector<MeetingFlow> flows = {{0, 1}, {0, 2}};
  const MeetingTimes times = SimulateMeetings(tasks, flows, Bytes{1'000'000});
  EXPECT_EQ(times.ends[1], seconds(2));  // 8 Mbit at 4 Mbit/s
  EXPECT_EQ(times.ends[0], seconds(4));  // at 2 Mbit/s throughout
}

TEST(Meetings, WhatIsFreedIsUsed) {
  const std::vector<MeetingTask> tasks = {Device(8e6, 1e9, seconds(0)), Device(8e6, 1e9, milliseconds(500)),
                                          Device(1e9, 8e6, seconds(0))};
  const std::vector<MeetingFlow> flows = {{0, 2}, {1, 2}};
  // The first is half done when the second begins; both move at half the rate until it is done after another second, when
  // the second has half left.
  const MeetingTimes times = SimulateMeetings(tasks, flows, Bytes{1'000'000});
  EXPECT_EQ(times.ends[0], milliseconds(1500));
  EXPECT_EQ(times.ends[1], milliseconds(2000));
}

TEST(Meetings, WhoBreaksOffIsDoneEarlier) {
  std::vector<MeetingTask> tasks = {Device(8e6, 1e9, seconds(0)), Device(1e9, 1e9, seconds(0))};
  tasks[0].sends = 0.25;
  const std::vector<MeetingFlow> flows = {{0, 1}};
  EXPECT_EQ(SimulateMeetings(tasks, flows, Bytes{1'000'000}).ends[0], milliseconds(250));
  tasks[0].sends = 0;
  EXPECT_EQ(SimulateMeetings(tasks, flows, Bytes{1'000'000}).ends[0], seconds(0));
}

TEST(Meetings, UnlimitedLinksTakeNoTime) {
  const double unlimited = std::numeric_limits<double>::infinity();
  const std::vector<MeetingTask> tasks = {Device(unlimited, unlimited, seconds(7)),
                                          Device(unlimited, unlimited, seconds(2))};
  const std::vector<MeetingFlow> flows = {{0, 1}, {1, 0}};
  const MeetingTimes times = SimulateMeetings(tasks, flows, Bytes{1 << 30});
  EXPECT_EQ(times.ends, (std::vector<TimePoint>{seconds(7), seconds(2)}));
}

// The same written down as it is said: at every change all rates are worked out anew, and the next change is looked for among
// all flows.
std::vector<double> Naive(std::span<const MeetingTask> tasks, std::span<const MeetingFlow> flows,
                          double size) {
  const std::size_t n = flows.size();
  std::vector<double> begin(n), left(n), ends(n, -1);
  std::set<std::size_t> waiting, moving;
  for (std::size_t f = 0; f < n; ++f) {
    const MeetingTask& from = tasks[flows[f].from];
    begin[f] = ToSeconds(from.computed + from.setup + (from.round_trip + tasks[flows[f].to].round_trip) / 2);
    left[f] = size * from.sends;
    waiting.insert(f);
  }
  double now = 0;
  while (!waiting.empty() || !moving.empty()) {
    const auto rate = [&](std::size_t f) {
      double up = 0, down = 0;
      for (const std::size_t other : moving) {
        up += flows[other].from == flows[f].from;
        down += flows[other].to == flows[f].to;
      }
      return std::min(tasks[flows[f].from].up.value / up, tasks[flows[f].to].down.value / down) / 8;
    };
    double next = std::numeric_limits<double>::infinity();
    for (const std::size_t f : waiting) next = std::min(next, begin[f]);
    for (const std::size_t f : moving) next = std::min(next, now + left[f] / rate(f));
    std::vector<std::pair<std::size_t, double>> moved;
    for (const std::size_t f : moving) moved.emplace_back(f, (next - now) * rate(f));
    for (const auto& [f, bytes] : moved) left[f] -= bytes;
    now = next;
    for (const auto& [f, bytes] : moved) {
      if (left[f] > size * 1e-12) continue;
      ends[f] = now;
      moving.erase(f);
    }
    for (auto it = waiting.begin(); it != waiting.end();) {
      if (begin[*it] <= now) {
        moving.insert(*it);
        it = waiting.erase(it);
      } else {
        ++it;
      }
    }
  }
  return ends;
}

TEST(Meetings, AgreeWithTheNaivePlayer) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng(seed);
    const std::size_t count = 2 + rng.Below(8);
    std::vector<MeetingTask> tasks;
    for (std::size_t i = 0; i < count; ++i) {
      MeetingTask task =
          Device(1e6 * (1 + static_cast<double>(rng.Below(50))),
                 1e6 * (1 + static_cast<double>(rng.Below(50))), milliseconds(rng.Below(4000)));
      task.setup = milliseconds(rng.Below(5));
      task.round_trip = milliseconds(rng.Below(50));
      if (rng.Below(5) == 0) task.sends = 0.1 + 0.9 * rng.Uniform();
      tasks.push_back(task);
    }
    std::vector<MeetingFlow> flows;
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j < count; ++j) {
        if (i != j && rng.Below(2) == 0) flows.push_back({i, j});
      }
    }
    const std::vector<double> expected = Naive(tasks, flows, 1e6);
    const MeetingTimes times = SimulateMeetings(tasks, flows, Bytes{1'000'000});
    for (std::size_t f = 0; f < flows.size(); ++f) {
      ASSERT_NEAR(ToSeconds(times.ends[f]), expected[f], 1e-7) << "seed " << seed << " flow " << f;
    }
  }
}

}  // namespace
}  // namespace tributary::inline simulated
