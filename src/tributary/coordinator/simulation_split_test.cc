// Simulated runs of networks that are cut.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "tributary/coordinator/simulation.h"
#include "tributary/device/setting.h"
#include "tributary/experiment/reader.h"
#include "tributary/telemetry/event.h"

namespace tributary::inline coordinator {
namespace {

// Four devices with 30 samples each; five steps an epoch.
Experiment Split(std::vector<std::string> overrides = {}) {
  constexpr std::string_view kText = R"toml(schema = 1
[experiment]
name = "split"
rounds = 7
evaluate-every = 7
[model]
name = "cnn"
[data]
set = "glyphs"
split = "iid"
train-limit = 120
test-limit = 40
[[fleet.group]]
name = "all"
count = 4
compute = "1G"
uplink = "10Mbit/s"
[train]
method = "split"
batch = 24
learning-rate = 0.05
[split]
cut = "pool1"
)toml";
  auto read = ReadExperimentText(kText, {"e.toml", std::nullopt}, overrides);
  EXPECT_TRUE(read.ok()) << read.status();
  return std::move(read).value();
}

FinishedRun Finish(const Experiment& experiment, std::size_t threads = 2, EventSink* watcher = nullptr) {
  auto result = Simulate(experiment, {.threads = threads, .watcher = watcher});
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? std::move(result).value() : FinishedRun();
}

// What rounds came to.
struct Rounds : EventSink {
  void Write(const Event& event) override {
    if (const auto* started = std::get_if<RoundStarted>(&event.what)) asked.push_back(started->participants);
    if (const auto* finished = std::get_if<RoundFinished>(&event.what)) {
      applied.push_back(finished->applied);
      if (finished->train_loss) losses.push_back(*finished->train_loss);
    }
  }
  std::vector<std::uint64_t> asked, applied;
  std::vector<double> losses;
};

// A rest that takes each batch on its own, one that waits for all of them, and both with a tail behind it.
const std::vector<std::vector<std::string>> kNetworks = {
    {},
    {"model.name=resnet8", "split.cut=layer1.0.relu"},
    {"split.tail=relu3"},
    {"model.name=resnet8", "split.cut=layer1.0.relu", "split.tail=layer2.0.relu"}};

// And those whose fronts are averaged after some steps: batches of 4 of 30 samples, the last of an epoch of 2.
const std::vector<std::vector<std::string>> kAveraged = {
    {"train.batch=4", "train.local-steps=2", "split.variant=splitfed-v1"},
    {"train.batch=4", "train.local-steps=2", "split.variant=splitfed-v2"}};

TEST(SimulateSplit, GivesTheSameDigestForEveryPoolWhateverGoesWrong) {
  const std::vector<std::string> calm = {};
  const std::vector<std::string> stormy = {
      "disturbance=[{kind=\"vanish\", devices=\"all\", share=0.2}, {kind=\"slow\", devices=\"all\", "
      "share=0.3, factor=30},"
      " {kind=\"corrupt\", devices=\"all\", share=0.2}, {kind=\"lose\", devices=[1]}]",
      "fleet.deadline=\"2s\"", "fleet.quorum=1"};
  std::vector<std::vector<std::string>> networks = kNetworks;
  networks.insert(networks.end(), kAveraged.begin(), kAveraged.end());
  for (const auto& network : networks) {
    for (const auto& weather : {calm, stormy}) {
      SCOPED_TRACE(network.empty() ? "cnn" : network.back());
      std::vector<std::string> overrides = network;
      overrides.insert(overrides.end(), weather.begin(), weather.end());
      const FinishedRun run = Finish(Split(overrides), 1);
      EXPECT_EQ(Finish(Split(overrides), 2).digest, run.digest);
      EXPECT_EQ(Finish(Split(overrides), 4).digest, run.digest);
      std::uint64_t missed = 0;
      for (const DeviceTotals& device : run.devices) missed += device.missed;
      EXPECT_EQ(missed > 0, !weather.empty());
      overrides.emplace_back("experiment.seed=2");
      EXPECT_NE(Finish(Split(overrides), 2).digest, run.digest);
    }
  }
}

// One device, one step of 24 samples, at 1 GMAC/s and 10 Mbit/s; the coordinator at 100 GMAC/s.
TEST(SimulateSplit, TheTimeAndBytesOfAStepAreThoseOfItsParts) {
  for (const auto& network : kNetworks) {
    std::vector<std::string> overrides = network;
    overrides.insert(overrides.end(), {"fleet.group.0.count=1", "experiment.rounds=1"});
    const Experiment experiment = Split(overrides);
    const auto data = LoadExperimentData(experiment, {}).value();
    const auto whole =
        BuildNetwork(experiment.model.name, experiment, data.train.shape(), data.train.classes()).value();
    const SplitNetwork parts = SplitNetworkAt(experiment, whole);
    const NodeIndex tail = parts.tail.value_or(whole->graph.size() - 1);
    double front = 0, middle = 0, end = 0;  // multiply-accumulates forward, for all samples
    for (NodeIndex node = 1; node < whole->graph.size(); ++node) {
      (node <= parts.cut ? front
       : node <= tail    ? middle
                         : end) += 24 * static_cast<double>(whole->costs[node].macs.value);
    }
    const auto held = 4 * static_cast<std::int64_t>(
                              whole->parameters.From(parts.cut + 1) + whole->parameters.size -
                              (parts.tail ? whole->parameters.From(tail + 1) : whole->parameters.size));
    const auto split_bytes = 24 * 4 * whole->graph.shape(parts.cut).elements();
    const auto tail_bytes = parts.tail ? 24 * 4 * whole->graph.shape(tail).elements() : 0;
    const std::int64_t up =
        held + split_bytes + (parts.tail ? tail_bytes : 24 * 4);  // labels, or the tail's gradient
    const std::int64_t down = held + split_bytes + tail_bytes;
    const FinishedRun run = Finish(experiment);
    EXPECT_EQ(run.up.value, up);
    EXPECT_EQ(run.down.value, down);
    const double seconds =
        8 * static_cast<double>(up + down) / 1e7 + 3 * (front + end) / 1e9 + 3 * middle / 1e11;
    EXPECT_NEAR(ToSeconds(run.time), seconds, 1e-6);
    const DeviceTotals& device = run.devices.at(0);
    EXPECT_EQ(device.compute + device.transfer() + device.wait, run.time);
    EXPECT_NEAR(ToSeconds(device.compute), 3 * (front + end) / 1e9, 1e-6);
  }
}

// One device of 30 samples, five steps of 7, 7, 7, 7 and 2 of them, at the same rates.
TEST(SimulateSplit, SoAreThoseOfManySteps) {
  for (std::vector<std::string> overrides : kAveraged) {
    overrides.insert(overrides.end(), {"fleet.group.0.count=1", "data.train-limit=30", "experiment.rounds=1",
                                       "train.local-steps=5", "train.batch=7"});
    for (const char* const strategy : {"sequential", "optimal"}) {
      std::vector<std::string> planned = overrides;
      planned.push_back(std::string("transfers.strategy=") + strategy);
      const Experiment experiment = Split(planned);
      const auto data = LoadExperimentData(experiment, {}).value();
      const auto whole =
          BuildNetwork(experiment.model.name, experiment, data.train.shape(), data.train.classes()).value();
      const SplitNetwork parts = SplitNetworkAt(experiment, whole);
      double front = 0, rest = 0;
      for (NodeIndex node = 1; node < whole->graph.size(); ++node) {
        (node <= parts.cut ? front : rest) += 30 * static_cast<double>(whole->costs[node].macs.value);
      }
      const auto held = 4 * static_cast<std::int64_t>(whole->parameters.From(parts.cut + 1));
      const auto crossed = 30 * 4 * whole->graph.shape(parts.cut).elements();
      const FinishedRun run = Finish(experiment);
      EXPECT_EQ(run.up.value, held + crossed + 30 * 4);
      EXPECT_EQ(run.down.value, held + crossed);
      EXPECT_NEAR(ToSeconds(run.devices.at(0).compute), 3 * front / 1e9, 1e-6);
      if (strategy == std::string("optimal")) continue;  // Some of it is hidden.
      EXPECT_NEAR(
          ToSeconds(run.time),
          8 * static_cast<double>(run.up.value + run.down.value) / 1e7 + 3 * front / 1e9 + 3 * rest / 1e11,
          1e-6);
    }
  }
}

TEST(SimulateSplit, WhereFrontsAreAveragedTheFleetSaysWhoTakesPart) {
  for (std::vector<std::string> overrides : kAveraged) {
    overrides.emplace_back("fleet.participation=3");
    Rounds rounds;
    Finish(Split(overrides), 2, &rounds);
    EXPECT_EQ(rounds.asked, std::vector<std::uint64_t>(7, 3));
    EXPECT_EQ(rounds.applied, rounds.asked);
    EXPECT_LT(rounds.losses.back(), rounds.losses.front());
  }
}

TEST(SimulateSplit, CompressedUpdatesLeaveTheBytesOverTheCutAsTheyAre) {
  // 24 samples of 32 channels of 16×16 values, and as many labels.
  const std::int64_t crossed = 24 * 4 * (32 * 16 * 16 + 1);
  const std::vector<std::string> one = {"fleet.group.0.count=1", "experiment.rounds=1"};
  const FinishedRun plain = Finish(Split(one));
  const FinishedRun compressed =
      Finish(Split({one[0], one[1], "compression.kind=top-k", "compression.ratio=0.01"}));
  EXPECT_GT(compressed.up.value, crossed);
  EXPECT_LT(compressed.up.value - crossed, (plain.up.value - crossed) / 10);
}

TEST(SimulateSplit, ARoundInWhichAllVanishIsDoneWithoutAndTheNextGoesOn) {
  for (const auto& network : kNetworks) {
    std::vector<std::string> overrides = network;
    overrides.emplace_back("disturbance=[{kind=\"vanish\", devices=\"all\", rounds=[2, 3]}]");
    Rounds rounds;
    const FinishedRun run = Finish(Split(overrides), 2, &rounds);
    EXPECT_EQ(rounds.applied, (std::vector<std::uint64_t>{4, 0, 0, 4, 4, 4, 4, 4, 4}));
    EXPECT_TRUE(run.run.accuracy.has_value());
  }
}

TEST(SimulateSplit, TheSamplerSaysWhoTakesPart) {
  Rounds sequential;
  Finish(Split({"sampling.method=sequential", "experiment.rounds=8"}), 2, &sequential);
  EXPECT_EQ(sequential.asked, std::vector<std::uint64_t>(8, 1));  // 24 and 6 samples of each
  Rounds equal;
  Finish(Split({"sampling.method=fls", "experiment.rounds=5"}), 2, &equal);
  EXPECT_EQ(equal.asked, std::vector<std::uint64_t>(5, 4));
}

TEST(SimulateSplit, EndsOfANetworkMayHaveNoWeights) {
  for (std::vector<std::string> overrides : kAveraged) {
    overrides.insert(overrides.end(), {"model.name=mlp", "split.cut=flatten"});
    EXPECT_EQ(Finish(Split(overrides), 1).digest, Finish(Split(overrides), 4).digest);
  }
  const std::string corrupt = "disturbance=[{kind=\"corrupt\", devices=\"all\", share=0.5}]";
  // The front is the images laid flat.
  const std::vector<std::string> front = {"model.name=mlp", "split.cut=flatten", corrupt};
  EXPECT_EQ(Finish(Split(front), 1).digest, Finish(Split(front), 4).digest);
  // The coordinator's part is an activation and a pooling.
  const std::vector<std::string> middle = {"split.cut=conv2", "split.tail=pool2", corrupt};
  EXPECT_EQ(Finish(Split(middle), 1).digest, Finish(Split(middle), 4).digest);
}

// The same samples in the same steps: the losses of all rounds agree, and what the codecs lose shows.
TEST(SimulateSplit, LearnsTheSameWhereverItIsCut) {
  const auto losses = [](const std::vector<std::string>& overrides) {
    Rounds rounds;
    Finish(Split(overrides), 2, &rounds);
    EXPECT_EQ(rounds.losses.size(), 7U);
    return rounds.losses;
  };
  const std::vector<double> first = losses({"split.cut=conv1"});
  EXPECT_NE(first.front(), first.back());
  const auto farthest = [&](const std::vector<std::string>& overrides) {
    const std::vector<double> others = losses(overrides);
    double distance = 0;
    for (std::size_t i = 0; i < others.size(); ++i)
      distance = std::max(distance, std::abs(others[i] - first[i]));
    return distance;
  };
  EXPECT_LT(farthest({"split.cut=relu3"}), 1e-5);
  EXPECT_LT(farthest({"split.cut=conv1", "split.tail=fc1"}), 1e-5);
  const double coarse = farthest({"split.cut=pool1", "split.activations=int8", "split.gradients=int8"});
  EXPECT_GT(coarse, 1e-5);
  EXPECT_LT(coarse, 0.05);
}

TEST(SimulateSplit, LeavesAFolderThatSaysWhereItWasCut) {
  const auto folder = std::filesystem::path(testing::TempDir()) / ("split_run_" + std::to_string(::getpid()));
  std::filesystem::remove_all(folder);
  const Experiment experiment = Split({"model.name=resnet8", "split.cut=auto", "experiment.rounds=2"});
  const auto result = Simulate(experiment, {.threads = 2, .folder = folder});
  ASSERT_TRUE(result.ok()) << result.status();
  const auto again = ReadExperiment(folder / "experiment.toml");
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_NE(again->split.cut, "auto");
  EXPECT_EQ(Finish(*again).digest, result->digest);
  std::filesystem::remove_all(folder);
}

TEST(SimulateSplit, RefusesWhatCannotBeCut) {
  const auto refusal = [](std::vector<std::string> overrides) {
    const Status status = Simulate(Split(overrides), {.threads = 1}).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    return status.message();
  };
  EXPECT_NE(refusal({"split.cut=pool3"}).find("It can be cut after: conv1, relu1, pool1"), std::string::npos);
  EXPECT_NE(refusal({"split.tail=conv1"}).find("choose a later layer for tail"), std::string::npos);
}

}  // namespace
}  // namespace tributary::inline coordinator
