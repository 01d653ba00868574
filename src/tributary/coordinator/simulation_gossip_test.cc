// Devices that average models of their own with their neighbours', simulated from end to end.

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "tributary/coordinator/simulation.h"
#include "tributary/experiment/presets.h"
#include "tributary/telemetry/sink.h"

namespace tributary::inline coordinator {
namespace {

class GossipEvents : public EventSink {
 public:
  void Write(const Event& event) override {
    if (const auto* device = std::get_if<DeviceFinished>(&event.what)) devices.push_back(*device);
    if (const auto* round = std::get_if<RoundFinished>(&event.what)) rounds.push_back(*round);
    if (const auto* evaluated = std::get_if<Evaluated>(&event.what)) losses.push_back(evaluated->loss);
  }
  std::vector<DeviceFinished> devices;
  std::vector<RoundFinished> rounds;
  std::vector<double> losses;
};

// Four devices on a small set of glyphs.
Experiment Four(std::vector<std::string> overrides) {
  for (const char* one :
       {"fleet.group=[{name=\"all\", count=4, compute=\"1G\", uplink=\"8Mbit/s\", downlink=\"80Mbit/s\"}]",
        "train.method=gossip", "train.local-steps=1", "train.batch=8", "experiment.rounds=4",
        "data.train-limit=400", "data.test-limit=50"}) {
    overrides.insert(overrides.begin(), one);
  }
  auto experiment = FindExperiment("smoke", overrides);
  EXPECT_TRUE(experiment.ok()) << experiment.status();
  return std::move(experiment).value();
}

FinishedRun RunIt(const Experiment& experiment, GossipEvents* events = nullptr, std::size_t threads = 2) {
  auto result = Simulate(experiment, {.threads = threads, .watcher = events});
  EXPECT_TRUE(result.ok()) << result.status();
  return std::move(result).value();
}

// Where everybody meets everybody after every step, without momentum, devices never differ, and a round is a step of
// synchronous SGD on the mean gradient.
TEST(SimulateGossip, OnACompleteGraphItIsSynchronousSgd) {
  GossipEvents gossip, sync;
  const std::vector<std::string> longer = {"model.name=mlp", "train.momentum=0", "experiment.rounds=24",
                                           "experiment.evaluate-every=6"};
  Experiment complete = Four(longer);
  complete.gossip.mixing.topology.kind = TopologyKind::kComplete;
  RunIt(complete, &gossip);
  Experiment plain = Four(longer);
  plain.train.method = Method::kSyncSgd;
  plain.train.local_steps.reset();
  RunIt(plain, &sync);
  ASSERT_EQ(gossip.losses.size(), 4U);
  for (std::size_t round = 0; round < 4; ++round)
    EXPECT_NEAR(gossip.losses[round], sync.losses[round], 1e-4) << round;
  EXPECT_LT(gossip.losses.back(), gossip.losses.front());
}

TEST(SimulateGossip, IsAFunctionOfTheExperiment) {
  const Experiment ring = Four({"train.momentum=0.9", "train.local-steps=2"});
  const std::string digest = RunIt(ring, nullptr, 1).digest;
  EXPECT_EQ(RunIt(ring, nullptr, 3).digest, digest);
  EXPECT_NE(RunIt(Four({"train.momentum=0.9", "train.local-steps=2", "experiment.seed=2"})).digest, digest);
}

TEST(SimulateGossip, ModelsTravelBetweenNeighbours) {
  GossipEvents events;
  RunIt(Four({}), &events);
  ASSERT_EQ(events.devices.size(), 16U);
  for (const DeviceFinished& device : events.devices) {
    EXPECT_EQ(device.outcome, Outcome::kApplied);
    EXPECT_EQ(device.met, 2U);
    EXPECT_EQ(device.up, device.down);
    EXPECT_EQ(device.relayed, Bytes{0});
    // All compute as long and then send two models, both over one link, which is slower than that of those who take them.
    EXPECT_NEAR(ToSeconds(device.push), static_cast<double>(device.up.value) * 8 / 8e6, 1e-6);
    EXPECT_EQ(device.pull, Duration(0));
    EXPECT_NEAR(ToSeconds(device.compute + device.push + device.wait),
                ToSeconds(events.rounds.front().duration), 1e-6);
  }
}

TEST(SimulateGossip, OneThatVanishesIsLeftOutAndTakenBack) {
  GossipEvents events;
  RunIt(Four({"disturbance=[{kind=\"vanish\", devices=[1], rounds=[2]}]"}), &events);
  std::map<std::uint64_t, std::map<std::uint64_t, DeviceFinished>> rounds;
  for (const DeviceFinished& device : events.devices)
    rounds[device.round.value][device.device.value] = device;
  EXPECT_EQ(rounds[2][1].outcome, Outcome::kLost);
  EXPECT_FALSE(rounds[2][1].met);
  EXPECT_EQ(rounds[2][0].met, 1U);  // the ring is 0 1 2 3
  EXPECT_EQ(rounds[2][2].met, 1U);
  EXPECT_EQ(rounds[2][3].met, 2U);
  EXPECT_LT(rounds[2][0].up, rounds[1][0].up);
  for (std::uint64_t device = 0; device < 4; ++device) EXPECT_EQ(rounds[3][device].met, 2U) << device;
}

TEST(SimulateGossip, WhatCannotBeAveragedIsLeftOut) {
  GossipEvents events;
  RunIt(Four({"disturbance=[{kind=\"corrupt\", devices=[0], rounds=[1]}, {kind=\"lose\", devices=[0], "
              "rounds=[2]},"
              "{kind=\"crash-in-upload\", devices=[0], rounds=[3]}]"}),
        &events);
  for (const DeviceFinished& device : events.devices) {
    const bool neighbour = device.device.value % 2 == 1;
    const bool disturbed = device.round.value <= 3;
    if (device.device.value == 0) {
      // The first two leave it well itself; the third is its end for this round.
      EXPECT_EQ(device.outcome, device.round.value == 3 ? Outcome::kCrashed : Outcome::kApplied);
    } else {
      EXPECT_EQ(device.met, disturbed && neighbour ? 1U : 2U)
          << device.round.value << " " << device.device.value;
    }
  }
}

TEST(SimulateGossip, MatchaMeetsSomeOfThem) {
  GossipEvents all, some;
  const auto settings = [](const char* algorithm) {
    return std::vector<std::string>{std::string("gossip.algorithm=") + algorithm,
                                    "gossip.topology=complete",
                                    "experiment.rounds=60",
                                    "experiment.evaluate-every=60",
                                    "train.batch=1",
                                    "data.test-limit=10"};
  };
  RunIt(Four(settings("d-psgd")), &all);
  RunIt(Four(settings("matcha")), &some);
  const auto bytes = [](const GossipEvents& events) {
    double sum = 0;
    for (const RoundFinished& round : events.rounds) sum += static_cast<double>(round.bytes_up.value);
    return sum;
  };
  // Three matchings, each in half of the rounds: a share of 0.5 with a deviation of 0.5 / √180 = 0.037.
  EXPECT_NEAR(bytes(some) / bytes(all), 0.5, 4 * 0.037);
}

TEST(SimulateGossip, BatchesAndShardsThatFollowSpeedAreDoneTogether) {
  const std::vector<std::string> unequal = {
      "fleet.group=[{name=\"a\", count=1, compute=\"4G\", uplink=\"80Mbit/s\"},"
      "{name=\"b\", count=1, compute=\"2G\", uplink=\"80Mbit/s\"}, {name=\"c\", count=2, compute=\"1G\", "
      "uplink=\"80Mbit/s\"}]",
      "train.batch=16"};
  auto by_speed = unequal;
  by_speed.insert(by_speed.end(),
                  {"gossip.batches=speed", "data.split={kind=\"submodular\", features=\"pca:8\"}"});
  GossipEvents events, waiting;
  const FinishedRun run = RunIt(Four(by_speed), &events);
  RunIt(Four(unequal), &waiting);
  const std::vector<std::uint64_t> samples = {32, 16, 8, 8};
  for (const DeviceFinished& device : events.devices) {
    EXPECT_EQ(device.samples, samples[device.device.value]);
    EXPECT_EQ(device.compute, events.devices.front().compute);
  }
  for (const DeviceFinished& device : waiting.devices) EXPECT_EQ(device.samples, 16U);
  EXPECT_LT(events.rounds.front().duration, waiting.rounds.front().duration);
  std::vector<std::int64_t> shards;
  for (const DeviceProfile& device : run.profiles) shards.push_back(device.samples);
  EXPECT_EQ(shards, (std::vector<std::int64_t>{200, 100, 50, 50}));
}

TEST(SimulateGossip, MeasuresOnSamplesOfTheTrainingSetWhereAsked) {
  GossipEvents test, train;
  // At smoke's learning rate the network collapses on some processors, and learns nothing that could be told apart.
  std::vector<std::string> settings = {"experiment.rounds=12", "experiment.evaluate-every=12",
                                       "train.local-steps=8", "train.learning-rate=0.01",
                                       "data.train-limit=64"};
  RunIt(Four(settings), &test);
  settings.push_back("data.evaluate=train");
  RunIt(Four(settings), &train);
  // It knows each of 64 samples by then, and nothing about others.
  EXPECT_LT(train.losses.back(), 0.5);
  EXPECT_GT(test.losses.back(), 1.5);
}

}  // namespace
}  // namespace tributary::inline coordinator
