#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tributary/base/distributions.h"
#include "tributary/fleet/simulated/event_queue.h"
#include "tributary/fleet/simulated/testing_timeline.h"
#include "tributary/policy/scheduling/transfer_plan.h"

namespace tributary::inline simulated {
namespace {

BitsPerSecond BytesEachSecond(double bytes) { return BitsPerSecond{bytes * 8}; }
TimePoint At(double seconds) { return FromSeconds(seconds); }

// All of it before the first segment leaves.
std::function<TimePoint(std::size_t, TimePoint)> Takes(double seconds) {
  return [seconds](std::size_t part, TimePoint begin) {
    return part == 0 ? begin + FromSeconds(seconds) : begin;
  };
}

const std::vector<ServerShard> kUnlimitedServer = MakeEvenServers(1, Bytes{1000}, {});

// Alone: pull begins at 0.3 s and takes 1 s; computing takes `compute`; push begins 0.3 s later and takes 2 s.
DeviceTask Plain(std::uint64_t device, double compute) {
  return {.device = {device},
          .setup = At(0.2),
          .round_trip = At(0.2),
          .up = BytesEachSecond(500),
          .down = BytesEachSecond(1000),
          .pull = {Bytes{1000}},
          .push = {Bytes{1000}},
          .compute = Takes(compute)};
}
constexpr double kBesidesCompute = 0.3 + 1 + 0.3 + 2;

RoundTimes Play(const std::vector<DeviceTask>& tasks, std::optional<double> deadline = {},
                std::size_t quorum = 0) {
  return SimulateRound(kUnlimitedServer, tasks, TimePoint(0),
                       deadline ? std::optional(FromSeconds(*deadline)) : std::nullopt, quorum);
}

std::size_t Count(const RoundTimes& round, DeviceOutcome outcome) {
  return static_cast<std::size_t>(
      std::count_if(round.devices.begin(), round.devices.end(),
                    [&](const DeviceTimes& times) { return times.outcome == outcome; }));
}

TEST(DeviceTimeline, OneDeviceGoesThroughItsPhases) {
  DeviceTask task = Plain(7, 4);
  task.start = At(10);
  const RoundTimes round = SimulateRound(kUnlimitedServer, std::vector{task}, At(5), std::nullopt, 1);
  const DeviceTimes expected = {.device = {7},
                                .outcome = DeviceOutcome::kArrived,
                                .pull_begin = At(10.3),
                                .pull_end = At(11.3),
                                .compute_end = At(15.3),
                                .push_begin = At(15.6),
                                .push_end = At(17.6),
                                .pulls = {{At(10), At(11.3)}},
                                .parts = {{At(11.3), At(15.3)}, {At(15.3), At(15.3)}},
                                .pushes = {{At(15.3), At(17.6)}},
                                .settled = At(17.6),
                                .pulled = Bytes{1000},
                                .pushed = Bytes{1000}};
  EXPECT_EQ(round.devices.at(0), expected);
  EXPECT_EQ(round.start, At(5));
  EXPECT_EQ(round.end, At(17.6));
  EXPECT_EQ(round.why, RoundEnd::kAllSettled);
  EXPECT_EQ(round.arrived, 1u);
}

TEST(DeviceTimeline, EmptyMessagesCostTheirSetUpAndLatencyOnly) {
  DeviceTask task = Plain(0, 4);
  task.pull = task.push = {Bytes{0}};
  const DeviceTimes times = Play({task}).devices[0];
  EXPECT_EQ(times.pull_end, At(0.3));
  EXPECT_EQ(times.settled, At(4.6));
}

TEST(DeviceTimeline, ComputingBeginsWhenTheParametersAreThere) {
  DeviceTask task = Plain(0, 0);
  TimePoint asked{0};
  task.compute = [&](std::size_t part, TimePoint begin) {
    if (part == 0) asked = begin;
    return At(100);  // Not available before.
  };
  EXPECT_EQ(Play({task}).devices[0].compute_end, At(100));
  EXPECT_EQ(asked, At(1.3));
  task.compute = nullptr;
  EXPECT_EQ(Play({task}).devices[0].compute_end, At(1.3));
}

TEST(DeviceTimeline, APullOfOneDeviceOverlapsThePushOfAnother) {
  // Device 0 pushes while device 1 pulls: different directions, no interference. Device 1 and 2 pull together.
  const std::vector<ServerShard> servers =
      MakeEvenServers(2, Bytes{1000}, {BytesEachSecond(250), BytesEachSecond(500)});
  std::vector<DeviceTask> tasks;
  for (std::uint64_t i = 0; i < 3; ++i) {
    tasks.push_back({.device = {i}, .pull = {Bytes{1000}}, .push = {Bytes{1000}}, .compute = Takes(1)});
  }
  tasks[1].start = tasks[2].start = At(2);
  const RoundTimes round = SimulateRound(servers, tasks, TimePoint(0), std::nullopt, 0);
  EXPECT_EQ(round.devices[0].pull_end, At(1));  // 500 bytes at 500 bytes/s from each of the two.
  EXPECT_EQ(round.devices[0].push_begin, At(2));
  EXPECT_EQ(round.devices[0].push_end, At(4));
  EXPECT_EQ(round.devices[1].pull_end, At(4));  // Half the rate each.
  EXPECT_EQ(round.devices[2].pull_end, At(4));
  EXPECT_EQ(round.devices[2].push_end, At(9));
}

TEST(DeviceTimeline, SixtyFourUploadsShareOneLink) {
  // All done computing at the same moment; 1 MB each over 10 MB/s: n · bytes / rate after the push began.
  const std::vector<ServerShard> servers =
      MakeEvenServers(1, Bytes{1'000'000}, {BytesEachSecond(10'000'000), kUnlimited});
  std::vector<DeviceTask> tasks;
  for (std::uint64_t i = 0; i < 64; ++i) {
    tasks.push_back({.device = {i}, .push = {Bytes{1'000'000}}, .compute = Takes(2)});
  }
  const RoundTimes round = SimulateRound(servers, tasks, TimePoint(0), std::nullopt, 64);
  for (const DeviceTimes& times : round.devices) EXPECT_EQ(times.push_end, At(2 + 6.4));
  EXPECT_EQ(round.arrived, 64u);
}

TEST(DeviceTimeline, FaultsEndADeviceWhereTheyStrike) {
  DeviceTask absent = Plain(0, 4);
  absent.fault = NeverJoins{};
  absent.start = At(50);  // Nobody waits for what is known not to come.
  DeviceTask in_pull = Plain(1, 4);
  in_pull.fault = Vanishes{At(0.8)};
  DeviceTask in_compute = Plain(2, 4);
  in_compute.fault = Vanishes{At(3)};
  DeviceTask in_push = Plain(3, 4);
  in_push.fault = Vanishes{At(6.1)};
  DeviceTask after = Plain(4, 4);
  after.fault = Vanishes{At(7.6)};  // The moment its update is in.
  DeviceTask crash = Plain(5, 4);
  crash.fault = CrashesInUpload{0.25};
  DeviceTask lost = Plain(6, 4);
  lost.fault = LosesUpdate{};
  DeviceTask stuck = Plain(7, 4);
  stuck.compute = [](std::size_t, TimePoint) { return kNever; };
  const RoundTimes round = Play({absent, in_pull, in_compute, in_push, after, crash, lost, stuck}, {}, 1);
  const auto& devices = round.devices;

  const DeviceTimes nothing = {.device = {0}, .outcome = DeviceOutcome::kAbsent};
  EXPECT_EQ(devices[0], nothing);

  EXPECT_EQ(devices[1].outcome, DeviceOutcome::kVanished);
  EXPECT_EQ(devices[1].settled, At(0.8));
  EXPECT_EQ(devices[1].pulled.value, 500);
  EXPECT_EQ(devices[1].pull_end, std::nullopt);

  EXPECT_EQ(devices[2].outcome, DeviceOutcome::kVanished);
  EXPECT_EQ(devices[2].pulled.value, 1000);
  EXPECT_EQ(devices[2].compute_end, std::nullopt);

  EXPECT_EQ(devices[3].outcome, DeviceOutcome::kVanished);
  EXPECT_EQ(devices[3].push_begin, At(5.6));
  EXPECT_EQ(devices[3].pushed.value, 250);
  EXPECT_EQ(devices[3].push_end, std::nullopt);

  EXPECT_EQ(devices[4].outcome, DeviceOutcome::kArrived);

  EXPECT_EQ(devices[5].outcome, DeviceOutcome::kCrashed);
  EXPECT_EQ(devices[5].settled, At(6.1));
  EXPECT_EQ(devices[5].pushed.value, 250);
  EXPECT_EQ(devices[5].push_end, std::nullopt);

  EXPECT_EQ(devices[6].outcome, DeviceOutcome::kLost);
  EXPECT_EQ(devices[6].push_end, At(7.6));
  EXPECT_EQ(devices[6].pushed.value, 1000);

  EXPECT_EQ(devices[7].outcome, DeviceOutcome::kStuck);
  EXPECT_EQ(devices[7].settled, kNever);

  EXPECT_EQ(round.arrived, 1u);
  EXPECT_EQ(round.end, At(7.6));
  EXPECT_EQ(round.why, RoundEnd::kAllSettled);
}

TEST(DeviceTimeline, AVanishedUploadLeavesItsShareToTheOthers) {
  const std::vector<ServerShard> servers =
      MakeEvenServers(1, Bytes{1000}, {BytesEachSecond(100), kUnlimited});
  std::vector<DeviceTask> tasks(2, {.push = {Bytes{1000}}});
  tasks[0].fault = Vanishes{At(4)};
  const RoundTimes round = SimulateRound(servers, tasks, TimePoint(0), std::nullopt, 0);
  EXPECT_EQ(round.devices[0].pushed.value, 200);
  EXPECT_EQ(round.devices[1].push_end, At(12));
}

// A step with transfers in segments, alone on its link, as the device's task and as the model that plans are made from.
struct Cut {
  PassProfile forward, backward;
  TransferPlan pull, push;
  DeviceTask task;
};

Cut RandomCut(Rng& rng) {
  Cut cut;
  const std::size_t layers = 1 + rng.Below(12);
  const double setup = rng.Uniform() < 0.2 ? 0 : Uniform(rng, 0, 0.5);
  cut.forward.setup = cut.backward.setup = setup;
  std::vector<Bytes> sizes;
  for (std::size_t layer = 0; layer < layers; ++layer) {
    sizes.push_back(Bytes{static_cast<std::int64_t>(rng.Below(1000))});
    cut.forward.transfer.push_back(static_cast<double>(sizes.back().value) / 1000);
    cut.backward.transfer.push_back(static_cast<double>(sizes.back().value) / 500);
    cut.forward.compute.push_back(rng.Uniform() < 0.2 ? 0 : Uniform(rng, 0, 1));
    cut.backward.compute.push_back(2 * cut.forward.compute.back());
  }
  const auto plan = [&] {
    TransferPlan runs;
    for (std::size_t first = 0, layer = 0; layer < layers; ++layer) {
      if (layer + 1 < layers && rng.Uniform() < 0.5) continue;
      runs.push_back({first, layer});
      first = layer + 1;
    }
    return runs;
  };
  cut.pull = plan();
  cut.push = plan();
  const auto bytes = [&](const LayerRun& run) {
    Bytes sum{0};
    for (std::size_t layer = run.first; layer <= run.last; ++layer) sum += sizes[layer];
    return sum;
  };
  cut.task = {.device = {1},
              .setup = FromSeconds(setup / 2),
              .round_trip = FromSeconds(setup),
              .up = BytesEachSecond(500),
              .down = BytesEachSecond(1000),
              .pull = {},
              .push = {}};
  std::vector<double> parts;
  const auto add = [&](const LayerRun& run, const PassProfile& pass) {
    parts.push_back(0);
    for (std::size_t layer = run.first; layer <= run.last; ++layer) parts.back() += pass.compute[layer];
  };
  for (const LayerRun& run : cut.pull) {
    cut.task.pull.push_back(bytes(run));
    add(run, cut.forward);
  }
  for (std::size_t i = cut.push.size(); i-- > 0;) {
    cut.task.push.push_back(bytes(cut.push[i]));
    add(cut.push[i], cut.backward);
  }
  cut.task.compute = [parts](std::size_t part, TimePoint begin) { return begin + FromSeconds(parts[part]); };
  return cut;
}

TEST(DeviceTimeline, SegmentsTakeTheTimeThatPlansAreMadeFor) {
  Rng rng(11);
  for (int i = 0; i < 2000; ++i) {
    const Cut cut = RandomCut(rng);
    const DeviceTimes times = Play({cut.task}).devices[0];
    ASSERT_EQ(times.outcome, DeviceOutcome::kArrived);
    const PassTimeline forward = ForwardTimeline(cut.forward, cut.pull);
    const PassTimeline backward = BackwardTimeline(cut.backward, cut.push);
    constexpr double kRounding = 1e-7;  // nanoseconds, some dozens of times
    EXPECT_NEAR(ToSeconds(times.settled), forward.finish + backward.finish, kRounding);
    EXPECT_NEAR(ToSeconds(*times.pull_end), forward.transfers.back().end, kRounding);
    ASSERT_EQ(times.pushes.size(), cut.push.size());
    for (std::size_t j = 0; j < cut.push.size(); ++j) {
      const Interval& planned = backward.transfers[cut.push.size() - 1 - j];
      EXPECT_NEAR(ToSeconds(times.pushes[j].begin), forward.finish + planned.begin, kRounding);
      EXPECT_NEAR(ToSeconds(times.pushes[j].end), forward.finish + planned.end, kRounding);
    }
  }
}

TEST(DeviceTimeline, AnUploadInSegmentsBreaksOffInTheMiddleOfOne) {
  DeviceTask task = Plain(0, 4);
  task.push = {Bytes{400}, Bytes{0}, Bytes{600}};
  const auto pushed = [&](double fraction) {
    task.fault = CrashesInUpload{fraction};
    const DeviceTimes times = Play({task}).devices[0];
    EXPECT_EQ(times.outcome, DeviceOutcome::kCrashed) << fraction;
    EXPECT_EQ(times.push_end, std::nullopt);
    return times.pushed.value;
  };
  EXPECT_EQ(pushed(0), 0);
  EXPECT_EQ(pushed(0.25), 250);
  EXPECT_EQ(pushed(0.4), 400);
  EXPECT_EQ(pushed(0.7), 700);
  EXPECT_EQ(pushed(1), 1000);
  task.fault = Vanishes{At(6.9)};  // 0.3 + 1 + 4, then 0.3 + 0.8, 0.3, 0.3 and 0.2 into the last one.
  EXPECT_EQ(Play({task}).devices[0].pushed.value, 400);
  task.fault = Vanishes{At(7.2)};
  EXPECT_EQ(Play({task}).devices[0].pushed.value, 500);
}

TEST(SimulateRound, OneDeviceAHundredTimesSlowerHoldsTheRoundUpUnlessThereIsADeadline) {
  std::vector<DeviceTask> tasks;
  for (std::uint64_t i = 0; i < 9; ++i) tasks.push_back(Plain(i, 1));
  tasks.push_back(Plain(9, 100));
  const RoundTimes patient = Play(tasks);
  EXPECT_EQ(patient.end, At(100 + kBesidesCompute));
  EXPECT_EQ(patient.arrived, 10u);

  const RoundTimes strict = Play(tasks, 10, 5);
  EXPECT_EQ(strict.end, At(10));
  EXPECT_EQ(strict.why, RoundEnd::kDeadline);
  EXPECT_EQ(strict.arrived, 9u);
  EXPECT_EQ(strict.devices[9].outcome, DeviceOutcome::kLate);
  EXPECT_EQ(strict.devices[9].settled, At(100 + kBesidesCompute));
  EXPECT_EQ(strict.devices[9].pushed.value, 1000);
}

TEST(SimulateRound, ARoundThatIsCompleteDoesNotWaitForItsDeadline) {
  const RoundTimes round = Play({Plain(0, 1), Plain(1, 2)}, 100, 2);
  EXPECT_EQ(round.end, At(2 + kBesidesCompute));
  EXPECT_EQ(round.why, RoundEnd::kAllSettled);
}

TEST(SimulateRound, WhatArrivesAtTheDeadlineIsIn) {
  const RoundTimes round = Play({Plain(0, 1), Plain(1, 3), Plain(2, 5)}, 3 + kBesidesCompute, 1);
  EXPECT_EQ(round.why, RoundEnd::kDeadline);
  EXPECT_EQ(round.arrived, 2u);
}

TEST(SimulateRound, BeforeTheQuorumIsThereItWaitsPastTheDeadline) {
  const std::vector<DeviceTask> tasks = {Plain(0, 1), Plain(1, 10), Plain(2, 20), Plain(3, 30)};
  const auto ends = [&](std::size_t quorum) { return Play(tasks, 8, quorum); };
  for (const std::size_t quorum : {0u, 1u}) {
    EXPECT_EQ(ends(quorum).end, At(8)) << quorum;
    EXPECT_EQ(ends(quorum).why, RoundEnd::kDeadline);
    EXPECT_EQ(ends(quorum).arrived, 1u);
  }
  EXPECT_EQ(ends(3).end, At(20 + kBesidesCompute));
  EXPECT_EQ(ends(3).why, RoundEnd::kQuorum);
  EXPECT_EQ(ends(3).arrived, 3u);
  EXPECT_EQ(ends(3).devices[3].outcome, DeviceOutcome::kLate);
  EXPECT_EQ(ends(4).end, At(30 + kBesidesCompute));
  EXPECT_EQ(ends(4).arrived, 4u);
  // More than there are: everyone is waited for, and the answer says that it was not enough.
  EXPECT_EQ(ends(5).end, At(30 + kBesidesCompute));
  EXPECT_EQ(ends(5).why, RoundEnd::kQuorumMissed);
  EXPECT_EQ(ends(5).arrived, 4u);
}

TEST(SimulateRound, AQuorumThatCanNoLongerComeEndsTheRoundWhenNothingMoreCanHappen) {
  std::vector<DeviceTask> tasks = {Plain(0, 1), Plain(1, 10), Plain(2, 20)};
  tasks[1].fault = Vanishes{At(12)};
  tasks[2].fault = NeverJoins{};
  for (const std::optional<double> deadline :
       {std::optional<double>(), std::optional(8.0), std::optional(100.0)}) {
    const RoundTimes round = Play(tasks, deadline, 2);
    EXPECT_EQ(round.end, At(12));
    EXPECT_EQ(round.why, RoundEnd::kQuorumMissed);
    EXPECT_EQ(round.arrived, 1u);
  }
  // With a quorum of one the round waits for the second device until it is seen to be gone.
  EXPECT_EQ(Play(tasks, {}, 1).end, At(12));
  EXPECT_EQ(Play(tasks, 8, 1).end, At(8));
}

TEST(SimulateRound, AStuckDeviceIsWaitedForUntilTheDeadline) {
  std::vector<DeviceTask> tasks = {Plain(0, 1), Plain(1, 1)};
  tasks[1].compute = [](std::size_t, TimePoint) { return kNever; };
  EXPECT_EQ(Play(tasks, 50, 1).end, At(50));
  EXPECT_EQ(Play(tasks, 50, 1).why, RoundEnd::kDeadline);
  EXPECT_EQ(Play(tasks, {}, 1).end, At(1 + kBesidesCompute));
  EXPECT_EQ(Play(tasks, 50, 2).why, RoundEnd::kQuorumMissed);
  tasks[1].fault = Vanishes{At(30)};
  EXPECT_EQ(Play(tasks, 50, 1).end, At(30));
}

TEST(SimulateRound, NobodyThereEndsAtOnce) {
  EXPECT_EQ(SimulateRound(kUnlimitedServer, {}, At(3), At(10), 0).end, At(3));
  std::vector<DeviceTask> tasks = {Plain(0, 1)};
  tasks[0].fault = NeverJoins{};
  const RoundTimes round = Play(tasks, 10, 1);
  EXPECT_EQ(round.end, At(0));
  EXPECT_EQ(round.why, RoundEnd::kQuorumMissed);
}

// A fleet in which everything differs and three in ten vanish at some moment.
std::vector<DeviceTask> UnsteadyFleet(std::size_t devices, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<DeviceTask> tasks;
  for (std::size_t i = 0; i < devices; ++i) {
    DeviceTask task = Plain(i, Uniform(rng, 1, 20));
    task.up = BytesEachSecond(Uniform(rng, 20, 2000));
    task.down = BytesEachSecond(Uniform(rng, 100, 4000));
    if (i % 10 < 3) task.fault = Vanishes{At(Uniform(rng, 0, 5))};
    tasks.push_back(task);
  }
  return tasks;
}

TEST(SimulateRound, ThreeInTenVanishAndTheRestArrive) {
  const std::vector<ServerShard> servers =
      MakeEvenServers(3, Bytes{1000}, {BytesEachSecond(3000), BytesEachSecond(3000)});
  const std::vector<DeviceTask> tasks = UnsteadyFleet(200, 1);
  const RoundTimes round = SimulateRound(servers, tasks, TimePoint(0), std::nullopt, 140);
  EXPECT_EQ(Count(round, DeviceOutcome::kVanished), 60u);  // Nobody is through by 5 s.
  EXPECT_EQ(round.arrived, 140u);
  EXPECT_EQ(round.why, RoundEnd::kAllSettled);
  EXPECT_EQ(SimulateRound(servers, tasks, TimePoint(0), std::nullopt, 141).why, RoundEnd::kQuorumMissed);
  TimePoint last{0};
  for (const DeviceTimes& times : round.devices) {
    last = std::max(last, times.settled);
    if (times.outcome != DeviceOutcome::kArrived) continue;
    EXPECT_EQ(times.pulled.value, 1000);
    EXPECT_EQ(times.pushed.value, 1000);
    EXPECT_LE(*times.pull_begin, *times.pull_end);
    EXPECT_LE(*times.pull_end, *times.compute_end);
    EXPECT_LE(*times.push_begin, *times.push_end);
  }
  EXPECT_EQ(round.end, last);
}

TEST(SimulateRound, IsAFunctionOfItsArguments) {
  const std::vector<ServerShard> servers =
      MakeEvenServers(4, Bytes{1000}, {BytesEachSecond(3000), BytesEachSecond(9000)});
  const std::vector<DeviceTask> tasks = UnsteadyFleet(300, 2);
  EXPECT_EQ(SimulateRound(servers, tasks, TimePoint(0), At(30), 100),
            SimulateRound(servers, tasks, TimePoint(0), At(30), 100));
}

TEST(SimulateRound, AThousandDevicesOnFourServersFillTheLinkExactly) {
  // Equal devices starting at once: the slowest resource is the servers' uplinks, busy from the first push to the end.
  const std::vector<ServerShard> servers =
      MakeEvenServers(4, Bytes{4'000'000}, {BytesEachSecond(1e7), kUnlimited});
  std::vector<DeviceTask> tasks(1000, {.up = BytesEachSecond(1e7), .push = {Bytes{4'000'000}}});
  const RoundTimes round = SimulateRound(servers, tasks, TimePoint(0), std::nullopt, 0);
  EXPECT_EQ(round.end, At(100));  // 1000 · 1 MB on each server at 10 MB/s.
}

}  // namespace
}  // namespace tributary::inline simulated
