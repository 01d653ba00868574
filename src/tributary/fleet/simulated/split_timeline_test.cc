// Rounds of a network that is cut: what crosses the cut, and who waits there for whom.

#include <gtest/gtest.h>

#include <map>

#include "tributary/fleet/simulated/event_queue.h"
#include "tributary/fleet/simulated/testing_timeline.h"

namespace tributary::inline simulated {
namespace {

BitsPerSecond BytesEachSecond(double bytes) { return BitsPerSecond{bytes * 8}; }
TimePoint At(double seconds) { return FromSeconds(seconds); }

std::function<TimePoint(std::size_t, TimePoint)> Takes(std::vector<double> parts) {
  return [parts = std::move(parts)](std::size_t part, TimePoint begin) {
    return begin + FromSeconds(parts.at(part));
  };
}

const std::vector<ServerShard> kUnlimitedServer = MakeEvenServers(1, Bytes{1000}, {});

// A message takes 0.3 s before its first byte. Alone: the weights are there at 1.3 s, and what is sent over the cut
// 2.3 s after `front` is computed. A reply takes 0.8 s, going back 2 s and the update 2.3 s: 5.1 s from the reply on.
DeviceTask Cut(std::uint64_t device, double front) {
  return {.device = {device},
          .setup = At(0.2),
          .round_trip = At(0.2),
          .up = BytesEachSecond(500),
          .down = BytesEachSecond(1000),
          .pull = {Bytes{1000}},
          .push = {Bytes{1000}},
          .crossings = {{Bytes{1000}, Bytes{500}}},
          .compute = Takes({front, 2})};
}
constexpr double kFromSplit = 0.8 + 2 + 2.3;

// They come to the cut at 7.6, 8.6 and 4.6 s.
std::vector<DeviceTask> Three() { return {Cut(0, 4), Cut(1, 5), Cut(2, 1)}; }

// A second for each batch; where it waits, two for all of them.
struct Server {
  explicit Server(bool waits) {
    work.waits = waits;
    work.each = [](std::size_t, int) { return At(1); };
    work.all = [this](std::span<const std::size_t> tasks, int crossing) {
      together[crossing].assign(tasks.begin(), tasks.end());
      return At(2);
    };
  }
  RoundTimes Play(const std::vector<DeviceTask>& tasks, std::optional<double> deadline = {},
                  std::size_t quorum = 0) {
    return SimulateRound(kUnlimitedServer, tasks, TimePoint(0),
                         deadline ? std::optional(FromSeconds(*deadline)) : std::nullopt, quorum, work);
  }

  SplitWork work;
  std::map<int, std::vector<std::size_t>> together;
};

TEST(SplitTimeline, OneDeviceGoesOverTheCutAndComesBack) {
  DeviceTask task = Cut(7, 4);
  task.start = At(10);
  Server server(false);
  const RoundTimes round =
      SimulateRound(kUnlimitedServer, std::vector{task}, At(5), std::nullopt, 1, server.work);
  const DeviceTimes expected = {.device = {7},
                                .outcome = DeviceOutcome::kArrived,
                                .pull_begin = At(10.3),
                                .pull_end = At(11.3),
                                .compute_end = At(21.4),
                                .push_begin = At(21.7),
                                .push_end = At(23.7),
                                .pulls = {{At(10), At(11.3)}},
                                .parts = {{At(11.3), At(15.3)}, {At(19.4), At(21.4)}},
                                .pushes = {{At(21.4), At(23.7)}},
                                .ups = {{At(15.3), At(17.6)}},
                                .downs = {{At(18.6), At(19.4)}},
                                .taken = 1,
                                .settled = At(23.7),
                                .pulled = Bytes{1500},
                                .pushed = Bytes{1000},
                                .crossed_up = Bytes{1000}};
  EXPECT_EQ(round.devices.at(0), expected);
  EXPECT_EQ(round.end, At(23.7));
  EXPECT_EQ(round.why, RoundEnd::kAllSettled);
}

TEST(SplitTimeline, ATailIsComputedBetweenTwoCrossings) {
  DeviceTask task = Cut(0, 4);
  task.crossings = {{Bytes{1000}, Bytes{500}}, {Bytes{500}, Bytes{1000}}};
  task.compute = Takes({4, 3, 2});
  for (const bool waits : {false, true}) {
    Server server(waits);
    const DeviceTimes times = server.Play({task}).devices[0];
    const double all = waits ? 2 : 0;
    const double first = 7.6 + 1 + all;     // the first reply leaves
    const double second = first + 0.8 + 3;  // the tail is done
    const double third = second + 1.3 + 1 + all;
    EXPECT_EQ(times.ups, (std::vector<Busy>{{At(5.3), At(7.6)}, {At(second), At(second + 1.3)}}));
    EXPECT_EQ(times.downs, (std::vector<Busy>{{At(first), At(first + 0.8)}, {At(third), At(third + 1.3)}}));
    EXPECT_EQ(times.parts,
              (std::vector<Busy>{
                  {At(1.3), At(5.3)}, {At(first + 0.8), At(second)}, {At(third + 1.3), At(third + 3.3)}}));
    EXPECT_EQ(times.settled, At(third + 3.3 + 2.3));
    EXPECT_EQ(times.taken, 2U);
    EXPECT_EQ(times.crossed_up, Bytes{1500});
    EXPECT_EQ(times.pulled, Bytes{2500});
  }
}

// Each goes over the cut twice, a second of forward, three between and two of going back.
DeviceTask TwoSteps(std::uint64_t device, double front) {
  DeviceTask task = Cut(device, front);
  task.crossings = {{Bytes{1000}, Bytes{500}}, {Bytes{500}, Bytes{500}}};
  task.compute = Takes({front, 3, 2});
  return task;
}

TEST(SplitTimeline, OfTwoStepsEachGoesOverTheCutAsItComes) {
  Server server(false);
  const RoundTimes round = server.Play({TwoSteps(0, 4), TwoSteps(1, 1)});
  // The first comes at 7.6 s and is replied to a second later; then 0.8 s down, 3 s of work and 1.3 s up.
  const DeviceTimes& first = round.devices[0];
  EXPECT_EQ(first.ups, (std::vector<Busy>{{At(5.3), At(7.6)}, {At(12.4), At(13.7)}}));
  EXPECT_EQ(first.downs, (std::vector<Busy>{{At(8.6), At(9.4)}, {At(14.7), At(15.5)}}));
  EXPECT_EQ(first.parts, (std::vector<Busy>{{At(1.3), At(5.3)}, {At(9.4), At(12.4)}, {At(15.5), At(17.5)}}));
  EXPECT_EQ(first.settled, At(17.5 + 2.3));
  // The second is three seconds ahead all the way.
  const DeviceTimes& second = round.devices[1];
  EXPECT_EQ(second.ups, (std::vector<Busy>{{At(2.3), At(4.6)}, {At(9.4), At(10.7)}}));
  EXPECT_EQ(second.downs, (std::vector<Busy>{{At(5.6), At(6.4)}, {At(11.7), At(12.5)}}));
  EXPECT_EQ(second.settled, At(16.8));
  for (const DeviceTimes& times : round.devices) {
    EXPECT_EQ(times.taken, 2U);
    EXPECT_EQ(times.crossed_up, Bytes{1500});
  }
  EXPECT_EQ(round.end, At(19.8));
}

TEST(SplitTimeline, OfTwoStepsAllWaitForEachOtherAtBoth) {
  Server server(true);
  server.work.each = nullptr;  // All work is done when all are there: a second for each.
  server.work.all = [&](std::span<const std::size_t> tasks, int crossing) {
    server.together[crossing].assign(tasks.begin(), tasks.end());
    return At(static_cast<double>(tasks.size()));
  };
  const RoundTimes round = server.Play({TwoSteps(0, 4), TwoSteps(1, 1)});
  EXPECT_EQ(server.together[0], (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(server.together[1], (std::vector<std::size_t>{0, 1}));
  // The last comes at 7.6 s; both are replied to at 9.6 s, and come again at 14.7 s.
  for (const DeviceTimes& times : round.devices) {
    EXPECT_EQ(times.downs, (std::vector<Busy>{{At(9.6), At(10.4)}, {At(16.7), At(17.5)}}));
    EXPECT_EQ(times.ups[1], (Busy{At(13.4), At(14.7)}));
    EXPECT_EQ(times.settled, At(17.5 + 2 + 2.3));
    EXPECT_EQ(times.taken, 2U);
  }
}

TEST(SplitTimeline, WhoVanishesBetweenTwoStepsIsNotWaitedForAtTheSecond) {
  Server server(true);
  std::vector<DeviceTask> tasks = {TwoSteps(0, 4), TwoSteps(1, 1)};
  tasks[1].fault = Vanishes{At(12)};
  const RoundTimes round = server.Play(tasks);
  EXPECT_EQ(server.together[0], (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(server.together[1], (std::vector<std::size_t>{0}));
  EXPECT_EQ(round.devices[1].taken, 1U);
  EXPECT_EQ(round.devices[1].outcome, DeviceOutcome::kVanished);
  EXPECT_EQ(round.devices[0].outcome, DeviceOutcome::kArrived);
}

TEST(SplitTimeline, SegmentsOfWeightsAreAllThereBeforeTheCut) {
  // 0.3 + 0.5 s for each half of the weights, whose parts take 1 s each; then as ever; then halves of the update.
  DeviceTask task = Cut(0, 0);
  task.pull = {Bytes{500}, Bytes{500}};
  task.push = {Bytes{500}, Bytes{500}};
  task.compute = Takes({1, 1, 1, 3});
  Server server(false);
  const DeviceTimes times = server.Play({task}).devices[0];
  EXPECT_EQ(times.pulls, (std::vector<Busy>{{At(0), At(0.8)}, {At(0.8), At(1.6)}}));
  EXPECT_EQ(times.ups, (std::vector<Busy>{{At(2.8), At(5.1)}}));
  EXPECT_EQ(times.downs, (std::vector<Busy>{{At(6.1), At(6.9)}}));
  EXPECT_EQ(
      times.parts,
      (std::vector<Busy>{{At(0.8), At(1.8)}, {At(1.8), At(2.8)}, {At(6.9), At(7.9)}, {At(7.9), At(10.9)}}));
  EXPECT_EQ(times.pushes, (std::vector<Busy>{{At(7.9), At(9.2)}, {At(10.9), At(12.2)}}));
}

TEST(SplitTimeline, TheServerWorksInTheOrderOfArrival) {
  Server server(false);
  server.work.each = [](std::size_t, int) { return At(3); };
  const RoundTimes round = server.Play(Three());
  EXPECT_EQ(round.devices[2].downs[0].begin, At(7.6));
  EXPECT_EQ(round.devices[0].downs[0].begin, At(10.6));
  EXPECT_EQ(round.devices[1].downs[0].begin, At(13.6));
  EXPECT_EQ(round.end, At(13.6 + kFromSplit));
  EXPECT_EQ(round.arrived, 3U);
  EXPECT_TRUE(server.together.empty());
}

TEST(SplitTimeline, WhereItWaitsAllAreRepliedToTogether) {
  Server server(true);
  const RoundTimes round = server.Play(Three());
  // The last comes at 8.6 s; a second for it and two for all.
  for (const DeviceTimes& times : round.devices) {
    EXPECT_EQ(times.downs[0].begin, At(11.6));
    EXPECT_EQ(times.settled, At(11.6 + kFromSplit));
    EXPECT_EQ(times.taken, 1U);
  }
  EXPECT_EQ(server.together, (std::map<int, std::vector<std::size_t>>{{0, {0, 1, 2}}}));
}

TEST(SplitTimeline, ABatchInWorkIsFinishedBeforeAllOfThemAre) {
  Server server(true);
  server.work.each = [](std::size_t task, int) { return task == 0 ? At(10) : At(1); };
  // Device 0's is in work from 7.6 to 17.6 s, device 1's after it.
  EXPECT_EQ(server.Play(Three()).devices[2].downs[0].begin, At(7.6 + 10 + 1 + 2));
}

TEST(SplitTimeline, WithoutAnyWorkRepliesLeaveAtOnce) {
  const RoundTimes alone = SimulateRound(kUnlimitedServer, Three(), TimePoint(0), std::nullopt, 0, {});
  EXPECT_EQ(alone.devices[0].downs[0].begin, At(7.6));
  EXPECT_EQ(alone.devices[2].downs[0].begin, At(4.6));
  const RoundTimes together = SimulateRound(kUnlimitedServer, Three(), TimePoint(0), std::nullopt, 0,
                                            {.waits = true, .each = {}, .all = {}});
  for (const DeviceTimes& times : together.devices) EXPECT_EQ(times.downs[0].begin, At(8.6));
}

TEST(SplitTimeline, NobodyWaitsForADeviceThatIsGoneBeforeTheCut) {
  Server server(true);
  std::vector<DeviceTask> tasks = Three();
  tasks[1].fault = Vanishes{At(3)};
  const RoundTimes round = server.Play(tasks);
  EXPECT_EQ(round.devices[1].outcome, DeviceOutcome::kVanished);
  EXPECT_EQ(round.devices[1].taken, 0U);
  EXPECT_TRUE(round.devices[1].ups.empty());
  EXPECT_EQ(round.devices[0].downs[0].begin, At(7.6 + 1 + 2));
  EXPECT_EQ(round.devices[2].downs[0].begin, At(7.6 + 1 + 2));
  EXPECT_EQ(server.together[0], (std::vector<std::size_t>{0, 2}));

  tasks[1].fault = NeverJoins{};
  EXPECT_EQ(server.Play(tasks).devices[0].downs[0].begin, At(10.6));
  EXPECT_EQ(server.together[0], (std::vector<std::size_t>{0, 2}));
}

TEST(SplitTimeline, ADeviceThatVanishesOnTheWayToTheCutReleasesTheOthers) {
  Server server(true);
  std::vector<DeviceTask> tasks = Three();
  // Its bytes flow from 6.6 s on.
  tasks[1].fault = Vanishes{At(8)};
  const RoundTimes round = server.Play(tasks);
  EXPECT_EQ(round.devices[1].outcome, DeviceOutcome::kVanished);
  EXPECT_EQ(round.devices[1].ups, (std::vector<Busy>{{At(6.3), At(8)}}));
  EXPECT_EQ(round.devices[1].crossed_up, Bytes{700});
  EXPECT_EQ(round.devices[1].taken, 0U);
  // Device 0's batch is in work until 8.6 s.
  EXPECT_EQ(round.devices[0].downs[0].begin, At(8.6 + 2));
  EXPECT_EQ(round.arrived, 2U);
}

TEST(SplitTimeline, ADeviceThatVanishesWhileItWaitsHasNoPartInTheBatch) {
  Server server(true);
  std::vector<DeviceTask> tasks = Three();
  tasks[2].fault = Vanishes{At(7)};
  const RoundTimes round = server.Play(tasks);
  EXPECT_EQ(round.devices[2].outcome, DeviceOutcome::kVanished);
  EXPECT_EQ(round.devices[2].settled, At(7));
  EXPECT_EQ(round.devices[2].taken, 0U);
  EXPECT_EQ(round.devices[2].crossed_up, Bytes{1000});
  EXPECT_EQ(round.devices[2].pulled, Bytes{1000});
  EXPECT_TRUE(round.devices[2].downs.empty());
  EXPECT_EQ(server.together[0], (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(round.devices[0].downs[0].begin, At(8.6 + 1 + 2));
}

TEST(SplitTimeline, ADeviceThatVanishesAfterThatIsInTheBatchAllTheSame) {
  for (const bool replied : {false, true}) {  // or while the server works on it
    Server server(true);
    std::vector<DeviceTask> tasks = Three();
    tasks[2].fault = Vanishes{At(replied ? 12 : 10)};
    const RoundTimes round = server.Play(tasks);
    EXPECT_EQ(round.devices[2].outcome, DeviceOutcome::kVanished);
    EXPECT_EQ(round.devices[2].taken, 1U);
    EXPECT_EQ(server.together[0], (std::vector<std::size_t>{0, 1, 2}));
    // Its reply flows from 11.9 s on.
    EXPECT_EQ(round.devices[2].pulled, Bytes{replied ? 1100 : 1000});
    const std::vector<Busy> reply = {{At(11.6), At(12)}};
    EXPECT_EQ(round.devices[2].downs, replied ? reply : std::vector<Busy>());
    EXPECT_EQ(round.end, At(11.6 + kFromSplit));
    EXPECT_EQ(round.arrived, 2U);
  }
}

TEST(SplitTimeline, ADeviceThatIsGoneAfterOneCrossingIsNotWaitedForAtTheNext) {
  Server server(true);
  std::vector<DeviceTask> tasks = Three();
  for (DeviceTask& task : tasks) {
    task.crossings.push_back({Bytes{500}, Bytes{1000}});
    task.compute = Takes({task.device.value == 0 ? 4.0 : task.device.value == 1 ? 5.0 : 1.0, 3, 2});
  }
  tasks[0].fault = Vanishes{At(13)};
  const RoundTimes round = server.Play(tasks);
  EXPECT_EQ(round.devices[0].taken, 1U);
  EXPECT_EQ(server.together, (std::map<int, std::vector<std::size_t>>{{0, {0, 1, 2}}, {1, {1, 2}}}));
  // Both send at 15.4 s, and are worked on one after the other.
  EXPECT_EQ(round.devices[1].ups[1], (Busy{At(15.4), At(16.7)}));
  EXPECT_EQ(round.devices[1].downs[1].begin, At(16.7 + 1 + 1 + 2));
  EXPECT_EQ(round.devices[2].downs[1].begin, At(16.7 + 1 + 1 + 2));
}

TEST(SplitTimeline, ADeadlineClosesTheCutForThoseWhoHaveNotCome) {
  Server server(true);
  const RoundTimes round = server.Play(Three(), 8, 2);
  EXPECT_EQ(round.devices[1].outcome, DeviceOutcome::kLate);
  EXPECT_EQ(round.devices[1].settled, At(8.6));
  EXPECT_EQ(round.devices[1].taken, 0U);
  EXPECT_TRUE(round.devices[1].downs.empty());
  EXPECT_EQ(server.together[0], (std::vector<std::size_t>{0, 2}));
  // Device 0's batch is in work until 8.6 s. From the closing at 8 s on there are 8 s more, enough for both.
  EXPECT_EQ(round.devices[0].downs[0].begin, At(10.6));
  EXPECT_EQ(round.devices[0].outcome, DeviceOutcome::kArrived);
  EXPECT_EQ(round.end, At(10.6 + kFromSplit));
  EXPECT_EQ(round.why, RoundEnd::kAllSettled);
  EXPECT_EQ(round.arrived, 2U);
}

TEST(SplitTimeline, BeforeAQuorumIsThereTheCutStaysOpen) {
  Server server(true);
  const RoundTimes three = server.Play(Three(), 8, 3);
  EXPECT_EQ(server.together[0], (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(three.arrived, 3U);
  EXPECT_EQ(three.end, At(11.6 + kFromSplit));  // 16.7 s, after the new deadline of 16.6 s
  EXPECT_EQ(three.why, RoundEnd::kQuorum);

  // At 5 s only device 2 is there; the next to come makes the quorum.
  const RoundTimes two = server.Play(Three(), 5, 2);
  EXPECT_EQ(server.together[0], (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(two.devices[0].downs[0].begin, At(7.6 + 1 + 2));
  EXPECT_EQ(two.devices[1].outcome, DeviceOutcome::kLate);
}

TEST(SplitTimeline, TheRoundHasAsLongAgainAfterEachClosing) {
  Server server(true);
  const RoundTimes round = server.Play({Cut(0, 4), Cut(1, 1)}, 7, 1);
  EXPECT_EQ(server.together[0], (std::vector<std::size_t>{1}));
  // Closed at 7 s, until 14 s: its update comes at 7 + 2 + 5.1.
  EXPECT_EQ(round.devices[1].settled, At(14.1));
  EXPECT_EQ(round.end, At(14.1));
  EXPECT_EQ(round.why, RoundEnd::kQuorum);
}

TEST(SplitTimeline, WhoIsLeftBehindAtTheCutIsNotWaitedForAfterwards) {
  for (const bool stuck : {false, true}) {
    std::vector<DeviceTask> tasks = {Cut(0, 4), Cut(1, 100), Cut(2, 1)};
    if (stuck) tasks[1].compute = [](std::size_t, TimePoint) { return kNever; };
    Server server(true);
    const RoundTimes round = server.Play(tasks, 8, 2);
    EXPECT_EQ(round.devices[1].outcome, DeviceOutcome::kLate);
    EXPECT_EQ(round.devices[1].taken, 0U);
    // The others are done before the new deadline of 16 s.
    EXPECT_EQ(round.end, At(10.6 + kFromSplit));
    EXPECT_EQ(round.why, RoundEnd::kAllSettled);
    EXPECT_EQ(round.arrived, 2U);
  }
}

TEST(SplitTimeline, WithoutADeadlineAStuckDeviceIsWaitedForUntilNothingElseCanHappen) {
  std::vector<DeviceTask> tasks = Three();
  tasks[1].compute = [](std::size_t, TimePoint) { return kNever; };
  Server server(true);
  const RoundTimes round = server.Play(tasks, {}, 2);
  EXPECT_EQ(round.devices[1].taken, 0U);
  EXPECT_EQ(server.together[0], (std::vector<std::size_t>{0, 2}));
  // The last thing that happens is device 0's arrival at the cut.
  ASSERT_FALSE(round.devices[2].downs.empty());
  EXPECT_EQ(round.devices[2].downs[0].begin, At(7.6 + 1 + 2));
  EXPECT_EQ(round.arrived, 2U);
}

TEST(SplitTimeline, WhatReachesTheCutAfterTheRoundsEndIsNotTaken) {
  // Nobody waits. Device 2 is done at 10.7 s, device 0 has crossed by then and is late, device 1 comes at 23.6 s.
  Server server(false);
  const RoundTimes round = server.Play({Cut(0, 5), Cut(1, 20), Cut(2, 1)}, 12, 1);
  EXPECT_EQ(round.end, At(12));
  EXPECT_EQ(round.devices[2].outcome, DeviceOutcome::kArrived);
  EXPECT_EQ(round.devices[0].outcome, DeviceOutcome::kLate);
  EXPECT_EQ(round.devices[0].taken, 1U);
  EXPECT_EQ(round.devices[1].outcome, DeviceOutcome::kLate);
  EXPECT_EQ(round.devices[1].taken, 0U);
}

TEST(SplitTimeline, AStuckDevicesCrossingsHappenInTheRound) {
  // It goes over the cut and back until 9.4 s, and never ends what it then begins.
  DeviceTask task = Cut(0, 4);
  task.compute = [](std::size_t part, TimePoint begin) { return part == 0 ? begin + At(4) : kNever; };
  Server server(false);
  const RoundTimes round = server.Play({task}, {}, 1);
  EXPECT_EQ(round.devices[0].outcome, DeviceOutcome::kStuck);
  EXPECT_EQ(round.devices[0].taken, 1U);
  EXPECT_EQ(round.devices[0].parts, (std::vector<Busy>{{At(1.3), At(5.3)}, {At(9.4), kNever}}));
  EXPECT_EQ(round.end, At(9.4));
  EXPECT_EQ(round.why, RoundEnd::kQuorumMissed);
}

TEST(SplitTimeline, CrossingsShareTheServersLink) {
  const std::vector<ServerShard> servers =
      MakeEvenServers(1, Bytes{1000}, {BytesEachSecond(500), BytesEachSecond(1000)});
  std::vector<DeviceTask> tasks;
  for (std::uint64_t i = 0; i < 2; ++i) {
    tasks.push_back({.device = {i}, .crossings = {{Bytes{1000}, Bytes{1000}}}, .compute = Takes({1, 1})});
  }
  // Both up at half of 500 bytes/s, and down together at half of 1000 where they are replied to together.
  Server together(true);
  const RoundTimes all = SimulateRound(servers, tasks, TimePoint(0), std::nullopt, 0, together.work);
  for (const DeviceTimes& times : all.devices) {
    EXPECT_EQ(times.ups, (std::vector<Busy>{{At(1), At(5)}}));
    EXPECT_EQ(times.downs, (std::vector<Busy>{{At(9), At(11)}}));
    EXPECT_EQ(times.settled, At(12));
  }
  // And one after the other where they are not.
  Server alone(false);
  const RoundTimes each = SimulateRound(servers, tasks, TimePoint(0), std::nullopt, 0, alone.work);
  EXPECT_EQ(each.devices[0].downs, (std::vector<Busy>{{At(6), At(7)}}));
  EXPECT_EQ(each.devices[1].downs, (std::vector<Busy>{{At(7), At(8)}}));
}

TEST(SplitTimeline, ARoundIsTheSameEachTime) {
  std::vector<DeviceTask> tasks;
  for (std::uint64_t i = 0; i < 40; ++i) {
    tasks.push_back(Cut(i, static_cast<double>(i * 7 % 13)));
    if (i % 5 == 0) tasks.back().fault = Vanishes{At(static_cast<double>(i % 11))};
  }
  for (const bool waits : {false, true}) {
    Server server(waits);
    const RoundTimes round = server.Play(tasks, 9, 20);
    EXPECT_EQ(server.Play(tasks, 9, 20), round);
    for (const DeviceTimes& times : round.devices) {
      if (times.outcome == DeviceOutcome::kArrived) {
        EXPECT_EQ(times.taken, 1U);
      }
      if (times.ups.empty()) {
        EXPECT_EQ(times.taken, 0U);
      }
    }
  }
}

}  // namespace
}  // namespace tributary::inline simulated
