#include "tributary/fleet/simulated/event_queue.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "tributary/base/rng.h"

namespace tributary::inline simulated {
namespace {

TimePoint At(std::int64_t nanoseconds) { return TimePoint(nanoseconds); }

// Runs all events up to and including `time`, also newly scheduled ones, and leaves the clock at `time`.
void RunUntil(EventQueue& queue, VirtualClock& clock, TimePoint time) {
  for (auto next = queue.NextTime(); next && *next <= time; next = queue.NextTime()) queue.RunNext();
  clock.AdvanceTo(time);
}

TEST(EventQueue, RunsInOrderOfTimeAndThenOfScheduling) {
  VirtualClock clock;
  EventQueue queue(clock);
  std::vector<std::pair<std::int64_t, int>> ran;
  const auto note = [&](std::int64_t time, int name) {
    queue.Schedule(At(time), [&ran, &clock, name] { ran.emplace_back(clock.Now().count(), name); });
  };
  note(20, 1);
  note(10, 2);
  note(20, 3);
  note(10, 4);
  note(0, 5);
  EXPECT_EQ(queue.size(), 5u);
  while (queue.RunNext()) {
  }
  const std::vector<std::pair<std::int64_t, int>> expected = {{0, 5}, {10, 2}, {10, 4}, {20, 1}, {20, 3}};
  EXPECT_EQ(ran, expected);
  EXPECT_EQ(clock.Now(), At(20));
  EXPECT_EQ(queue.NextTime(), std::nullopt);
}

TEST(EventQueue, AnActionMayScheduleAtItsOwnMomentAndCancelItsNeighbour) {
  VirtualClock clock;
  EventQueue queue(clock);
  std::vector<int> ran;
  EventId neighbour;
  queue.Schedule(At(5), [&] {
    ran.push_back(1);
    EXPECT_TRUE(queue.Cancel(neighbour));
    queue.Schedule(clock.Now(), [&ran] { ran.push_back(4); });
  });
  neighbour = queue.Schedule(At(5), [&ran] { ran.push_back(2); });
  queue.Schedule(At(5), [&ran] { ran.push_back(3); });
  RunUntil(queue, clock, At(5));
  EXPECT_EQ(ran, (std::vector<int>{1, 3, 4}));
}

TEST(EventQueue, KeepsLaterEventsDue) {
  VirtualClock clock;
  EventQueue queue(clock);
  int ran = 0;
  queue.Schedule(At(3), [&ran] { ++ran; });
  queue.Schedule(At(8), [&ran] { ++ran; });
  RunUntil(queue, clock, At(7));
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(clock.Now(), At(7));
  EXPECT_EQ(queue.NextTime(), At(8));
}

TEST(EventQueue, CancelsOnceAndNeverTheNextOwnerOfTheSlot) {
  VirtualClock clock;
  EventQueue queue(clock);
  int ran = 0;
  const EventId first = queue.Schedule(At(1), [&ran] { ran += 1; });
  EXPECT_TRUE(queue.Cancel(first));
  const EventId second = queue.Schedule(At(1), [&ran] { ran += 10; });
  EXPECT_EQ(first.slot, second.slot);
  EXPECT_FALSE(queue.Cancel(first));
  EXPECT_FALSE(queue.Cancel(EventId{}));
  while (queue.RunNext()) {
  }
  EXPECT_EQ(ran, 10);
  EXPECT_FALSE(queue.Cancel(second));
}

TEST(EventQueue, DoesNotFillUpWithWhatWasCancelled) {
  VirtualClock clock;
  EventQueue queue(clock);
  // A time-out that is put off again and again, as with every start of a transfer.
  EventId timeout;
  for (int i = 0; i < 10'000; ++i) {
    queue.Cancel(timeout);
    timeout = queue.Schedule(At(1'000'000 + i), [] {});
    ASSERT_LE(queue.places(), 100u);
  }
  // Nor when what is left runs out instead.
  for (int i = 0; i < 1000; ++i) queue.Schedule(At(i), [] {});
  std::vector<EventId> far;
  for (int i = 0; i < 900; ++i) far.push_back(queue.Schedule(At(2'000'000), [] {}));
  for (const EventId id : far) queue.Cancel(id);
  RunUntil(queue, clock, At(999));
  EXPECT_EQ(queue.size(), 1u);
  EXPECT_LE(queue.places(), 66u);
}

TEST(EventQueueDeathTest, ThePastIsClosed) {
  VirtualClock clock;
  EventQueue queue(clock);
  RunUntil(queue, clock, At(10));
  EXPECT_DEATH(queue.Schedule(At(9), [] {}), "internal error");
}

// Against an ordered map, which knows nothing of heaps, slots and outdated places; nine tenths of the events are
// cancelled, so that the queue has to tidy up many times.
TEST(EventQueue, AgreesWithAnOrderedMapUnderScheduleCancelAndRun) {
  VirtualClock clock;
  EventQueue queue(clock);
  std::map<std::pair<TimePoint, int>, EventId> reference;
  std::vector<int> ran;
  Rng rng(11);
  int name = 0;
  for (int step = 0; step < 60'000; ++step) {
    const std::uint64_t dice = rng.Below(100);
    if (dice < 50) {
      const TimePoint time = clock.Now() + Duration(static_cast<std::int64_t>(rng.Below(50)));
      reference[{time, name}] = queue.Schedule(time, [&ran, name] { ran.push_back(name); });
      ++name;
    } else if (dice < 95 && !reference.empty()) {
      auto victim =
          reference.lower_bound({clock.Now() + Duration(static_cast<std::int64_t>(rng.Below(50))), 0});
      if (victim == reference.end()) --victim;
      ASSERT_TRUE(queue.Cancel(victim->second));
      reference.erase(victim);
    } else if (!reference.empty()) {
      ASSERT_EQ(queue.NextTime(), reference.begin()->first.first);
      ASSERT_TRUE(queue.RunNext());
      ASSERT_EQ(ran.back(), reference.begin()->first.second);
      reference.erase(reference.begin());
    }
    ASSERT_EQ(queue.size(), reference.size());
    ASSERT_LE(queue.places(), 2 * queue.size() + 64);
  }
  EXPECT_GT(ran.size(), 1000u);
}

}  // namespace
}  // namespace tributary::inline simulated
