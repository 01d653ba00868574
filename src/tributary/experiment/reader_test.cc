#include "tributary/experiment/reader.h"

#include <gtest/gtest.h>

#include <chrono>

#include "tributary/experiment/testing_texts.h"

namespace tributary::inline experiment {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::kEverything;
using testing::kLeast;
using testing::Replaced;
using Kind = Distribution::Kind;

Experiment Read(std::string_view text, std::vector<std::string> overrides = {}) {
  auto read = ReadExperimentText(text, {"e.toml", std::nullopt}, overrides);
  EXPECT_TRUE(read.ok()) << read.status();
  return read.ok() ? std::move(read).value() : Experiment();
}

TEST(Reader, ReadsEveryKeyOfTheGoalTheModelAndTheData) {
  const Experiment e = Read(kEverything);
  EXPECT_EQ(e.goal.name, "everything");
  EXPECT_EQ(e.goal.about, "a \"quoted\" word, a back\\slash, α");
  EXPECT_EQ(e.goal.seed, 7U);
  EXPECT_EQ(e.goal.rounds, 40);
  EXPECT_EQ(e.goal.time_budget, minutes(10));
  EXPECT_EQ(e.goal.target_accuracy, 0.75);
  EXPECT_EQ(e.goal.evaluate_every, 3);
  EXPECT_EQ(e.model.name, "resnet8");
  EXPECT_EQ(e.model.stem, Stem::kImageNet);
  EXPECT_EQ(e.model.compute_as, "resnet152");
  EXPECT_EQ(e.data.set, "cifar10");
  EXPECT_EQ(e.data.split.kind, "extended-dirichlet");
  EXPECT_EQ(e.data.split.alpha, 0.3);
  EXPECT_EQ(e.data.split.classes_per_device, 4);
  EXPECT_EQ(e.data.split.devices, 14);
  EXPECT_EQ(e.data.split.seed, 7U);
  EXPECT_EQ(e.data.train_limit, 1000U);
  EXPECT_EQ(e.data.test_limit, 200U);
  EXPECT_EQ(e.data.hold_out, 0.2);
}

TEST(Reader, ReadsEveryKeyOfTheFleet) {
  const FleetChoice fleet = Read(kEverything).fleet;
  EXPECT_EQ(fleet.servers, (std::vector<Server>{{{1e9}, {2e9}}, {{5e8}, {3e9}}}));
  EXPECT_EQ(fleet.participation, Portion::Share(0.5));
  EXPECT_EQ(fleet.deadline, milliseconds(1500));
  EXPECT_EQ(fleet.quorum, Portion::Count(3));
  ASSERT_EQ(fleet.groups.size(), 4U);
  const Group& phones = fleet.groups[0];
  EXPECT_EQ(phones.name, "phones");
  EXPECT_EQ(phones.count, 10);
  EXPECT_EQ(phones.compute, (Distribution{Kind::kNormal, {2e9, 5e8}}));
  EXPECT_EQ(phones.memory, (Distribution{Kind::kUniform, {1e9, 4e9}}));
  EXPECT_EQ(phones.uplink, (Distribution{Kind::kList, {1e6, 2.5e6}}));
  EXPECT_EQ(phones.downlink, Distribution::Constant(8e7));
  EXPECT_EQ(phones.round_trip, (Distribution{Kind::kUniform, {0.01, 0.2}}));
  EXPECT_EQ(phones.setup, Distribution::Constant(0.001));
  EXPECT_EQ(phones.stream_rate, (Distribution{Kind::kNormal, {64, 24}}));
  EXPECT_EQ(std::get<RandomSteps>(phones.availability), (RandomSteps{seconds(10), 0.2, 0.9}));
  const Group& watches = fleet.groups[1];
  EXPECT_EQ(watches.downlink, watches.uplink);
  const Trace& trace = *std::get<std::shared_ptr<const Trace>>(watches.availability);
  EXPECT_EQ(trace.steps(),
            (std::vector<Trace::Step>{{seconds(0), 1}, {seconds(90), 0.25}, {milliseconds(100'500), 0}}));
  EXPECT_EQ(trace.after(), Trace::After::kRepeat);
  EXPECT_EQ(std::get<double>(fleet.groups[2].availability), 0.5);
  // It outlasts the time budget, so nothing needs to be said of what comes after.
  EXPECT_EQ(std::get<std::shared_ptr<const Trace>>(fleet.groups[3].availability)->after(),
            Trace::After::kEnd);
}

TEST(Reader, ReadsEveryKeyOfTheTraining) {
  const Training train = Read(kEverything).train;
  EXPECT_EQ(train.method, Method::kFederated);
  EXPECT_EQ(train.batch, 16);
  EXPECT_EQ(train.local_steps, 2);
  EXPECT_FALSE(train.local_epochs.has_value());
  EXPECT_EQ(train.optimiser.name, "sgd");
  EXPECT_EQ(train.optimiser.momentum, 0.8);
  EXPECT_TRUE(train.optimiser.nesterov);
  EXPECT_EQ(train.optimiser.weight_decay, 1e-4);
  EXPECT_EQ(train.schedule.learning_rate, 0.07);
  EXPECT_EQ(train.schedule.name, "step");
  EXPECT_EQ(train.schedule.milestones, (std::vector<std::uint64_t>{10, 20}));
  EXPECT_EQ(train.schedule.factor, 0.3);
  EXPECT_EQ(train.schedule.warmup_steps, 4U);
  EXPECT_EQ(train.label_smoothing, 0.1);
  EXPECT_FALSE(train.augment.flip);
  EXPECT_EQ(train.augment.padding, 2);
  EXPECT_EQ(train.prox, 0.01);
  EXPECT_EQ(train.calibrate, 3);
  EXPECT_EQ(train.server_optimiser,
            (ServerOptimiser{ServerOptimiserKind::kYogi, 0.02, 0.9, 0.8, 0.95, 0.01}));
}

TEST(Reader, ReadsEveryKeyOfDisturbances) {
  const auto disturbances = Read(kEverything).disturbances;
  ASSERT_EQ(disturbances.size(), 4U);
  EXPECT_EQ(disturbances[0], (Disturbance{DisturbanceKind::kSlow, "phones", 0.3,
                                          std::vector<RoundId>{RoundId{2}, RoundId{5}}, 100}));
  EXPECT_EQ(std::get<std::vector<DeviceId>>(disturbances[1].devices),
            (std::vector<DeviceId>{DeviceId{0}, DeviceId{3}}));
  EXPECT_EQ(disturbances[1].share, 1);
  EXPECT_EQ(disturbances[2],
            (Disturbance{DisturbanceKind::kCrashInUpload, Disturbance::All{}, 1, std::nullopt, 1}));
  EXPECT_EQ(disturbances[3].attack, (Attack{AttackKind::kNoise, 3}));
}

TEST(Reader, FillsInDefaults) {
  const Experiment e = Read(kLeast);
  EXPECT_EQ(e.goal.seed, 1U);
  EXPECT_EQ(e.goal.evaluate_every, 1);
  EXPECT_EQ(e.data.split.kind, "iid");
  EXPECT_EQ(e.fleet.servers, std::vector<Server>{Server{}});
  EXPECT_EQ(e.fleet.participation, Portion::Share(1.0));
  EXPECT_EQ(e.fleet.quorum, Portion::Count(1));
  EXPECT_EQ(e.fleet.groups[0].name, "group-0");
  EXPECT_EQ(e.train.batch, 32);
  EXPECT_EQ(e.train.schedule.learning_rate, 0.05);
  EXPECT_EQ(e.train.optimiser.momentum, 0);
}

TEST(Reader, DefaultsFollowWhatTheyDependOn) {
  EXPECT_EQ(Read(kLeast, {"train.optimiser=adam"}).train.schedule.learning_rate, 0.001);
  EXPECT_EQ(Read(kLeast, {"train.server-optimiser=adam"}).train.server_optimiser.learning_rate, 0.01);
  EXPECT_EQ(Read(kLeast, {"train.server-optimiser=momentum"}).train.server_optimiser.learning_rate, 1);
  EXPECT_EQ(Read(kLeast).train.augment.padding, 0);
  EXPECT_EQ(Read(kLeast, {"data.set=cifar10"}).train.augment.padding, 4);
  EXPECT_EQ(Read(kLeast, {"data.set=cifar10", "train.augment=none"}).train.augment.padding, 0);
}

TEST(Reader, TellsSharesFromCounts) {
  const auto participation = [](std::string_view text) {
    return Read(Replaced(kLeast, "[[fleet.group]]",
                         "[fleet]\nparticipation = " + std::string(text) + "\n[[fleet.group]]"))
        .fleet.participation;
  };
  EXPECT_EQ(participation("1"), Portion::Count(1));
  EXPECT_EQ(participation("1.0"), Portion::Share(1.0));
  EXPECT_EQ(participation("\"0.5\""), Portion::Share(0.5));
  EXPECT_EQ(participation("\"3\""), Portion::Count(3));
}

TEST(Portion, IsAtLeastOneAndAtMostAll) {
  EXPECT_EQ(Portion::Share(1.0).Of(7), 7);
  EXPECT_EQ(Portion::Share(0.5).Of(7), 4);
  EXPECT_EQ(Portion::Share(0.001).Of(7), 1);
  EXPECT_EQ(Portion::Count(10).Of(7), 7);
  EXPECT_EQ(Portion::Count(3).Of(7), 3);
}

TEST(Reader, TimesAreQuantitiesOrSeconds) {
  EXPECT_EQ(Read(kLeast, {"experiment.time-budget=90"}).goal.time_budget, seconds(90));
  EXPECT_EQ(Read(kLeast, {"experiment.time-budget=0.5"}).goal.time_budget, milliseconds(500));
  EXPECT_EQ(Read(kLeast, {"experiment.time-budget=2h"}).goal.time_budget, seconds(7200));
}

TEST(Reader, PassesOverTheMarkOfAnEditor) {
  EXPECT_EQ(Read("\xEF\xBB\xBF" + std::string(kLeast)).goal.rounds, 2);
}

TEST(Reader, EqualServersAreWrittenOnce) {
  const auto servers =
      Read(kLeast, {"fleet.servers={ count = 3, up = \"1Gbit/s\", down = \"2Gbit/s\" }"}).fleet.servers;
  EXPECT_EQ(servers, std::vector<Server>(3, Server{{1e9}, {2e9}}));
}

TEST(ReadExperiment, ReadsHowUpdatesTravelAndWhatStreamsDo) {
  const auto everything = ReadExperimentText(kEverything, {"e.toml", std::nullopt});
  ASSERT_TRUE(everything.ok()) << everything.status();
  EXPECT_EQ(everything->transfers,
            (TransferOptions{TransferStrategy::kOptimal, 8'000'000, 0.2, /*whole_push=*/true}));
  EXPECT_EQ(everything->compression, (CompressionOptions{CodecNamed("adaptive-top-k"), 0.05, 0.4, 0.2,
                                                         SelectionScope::kGlobal, /*error_feedback=*/false}));
  EXPECT_EQ(everything->stream.buffer, BufferPolicy::kTruncate);
  EXPECT_EQ(everything->stream.recorded_speed, 20);

  const std::string text = R"(schema = 1
[experiment]
name = "streams"
rounds = 2
[model]
name = "cnn"
[data]
set = "glyphs"
[[fleet.group]]
count = 4
compute = "1G"
uplink = "10Mbit/s"
stream-rate = 20
[train]
method = "sync-sgd"
batch = 24
[stream]
batch = "stream-rate"
window = "450ms"
smallest-batch = 4
largest-batch = 500
scaling = "square-root"
largest-factor = 3
[injection]
devices = 0.25
share = 0.1
)";
  const auto streams = ReadExperimentText(text, {"e.toml", std::nullopt});
  ASSERT_TRUE(streams.ok()) << streams.status();
  const StreamChoice& stream = streams->stream;
  EXPECT_EQ(stream.batch,
            (StreamBatchOptions{BatchRule::kStreamRate, std::chrono::milliseconds(450), 4, 500}));
  EXPECT_EQ(stream.scaling, (RateScalingOptions{RateScaling::kSquareRoot, 3}));
  EXPECT_EQ(streams->injection, (InjectionOptions{0.25, 0.1}));
  EXPECT_EQ(stream.base_batch, 24);  // that of [train], where nothing else is said
  const auto again = ReadExperimentText(FormatExperiment(*streams), {"e.toml", std::nullopt});
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->stream.batch, stream.batch);
  EXPECT_EQ(again->injection, streams->injection);
  EXPECT_EQ(again->stream.scaling, stream.scaling);
  EXPECT_EQ(again->stream.base_batch, stream.base_batch);
}

}  // namespace
}  // namespace tributary::inline experiment
