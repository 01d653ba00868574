// SplitFed: what its two variants learn is what federated averaging, and a loop written down here, learn of the whole.

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include "tributary/coordinator/coordinator.h"
#include "tributary/coordinator/server_part.h"
#include "tributary/coordinator/split_fed_server.h"
#include "tributary/coordinator/testing_split.h"
#include "tributary/engine/testing/plain_kernels.h"
#include "tributary/fleet/simulated/simulated_fleet.h"
#include "tributary/telemetry/event.h"

namespace tributary::inline coordinator {
namespace {

using testing::Distance;

constexpr Shape kShape{3, 16, 16};
constexpr int kFewClasses = 4;
constexpr int kSteps = 3;

struct Silent : EventSink {
  void Write(const Event&) override {}
};

// Noise with a weak hint of the class.
const Dataset& Data() {
  static const Dataset data = [] {
    Rng rng(4);
    std::vector<float> values;
    std::vector<std::int32_t> labels;
    for (int i = 0; i < 34; ++i) {
      labels.push_back(i % kFewClasses);
      for (int p = 0; p < kShape.elements(); ++p) {
        values.push_back(static_cast<float>(Normal(rng, p % kFewClasses == labels.back() ? 0.5 : 0, 1)));
      }
    }
    return Dataset::Make({"noise", kShape, kFewClasses, {}}, std::move(values), std::move(labels)).value();
  }();
  return data;
}

// Of batches of 8, the last of an epoch are shorter, and one device has no whole one.
const std::vector<std::size_t> kSizes = {20, 9, 5};

std::vector<LocalData> Devices() {
  std::vector<LocalData> devices;
  std::uint32_t next = 0;
  for (const std::size_t size : kSizes) {
    LocalData local{&Data(), std::vector<std::uint32_t>(size), {}};
    std::iota(local.training.begin(), local.training.end(), next);
    next += static_cast<std::uint32_t>(size);
    devices.push_back(std::move(local));
  }
  return devices;
}

Experiment SplitFed(SplitVariant variant, const std::string& model, const std::string& cut) {
  Experiment experiment = testing::ExperimentOf(model, cut);
  experiment.split.variant = variant;
  experiment.goal.name = "test";
  experiment.goal.rounds = 4;
  experiment.goal.seed = 5;
  experiment.train.batch = 8;
  experiment.train.local_steps = kSteps;
  experiment.train.optimiser.momentum = 0.9;
  experiment.train.optimiser.weight_decay = 1e-3;
  experiment.train.schedule.learning_rate = 0.02;
  experiment.train.label_smoothing = 0.1;
  return experiment;
}

// Of the whole, after a run and before it.
struct Weights {
  std::vector<float> parameters, statistics;
};

Weights Learn(const Experiment& experiment, const std::shared_ptr<const Model>& whole, bool learns = true) {
  SimulatedFleetOptions options{.training = {.model = whole}, .charged = whole};
  std::unique_ptr<ServerPart> server_part;
  std::optional<SplitSetup> split;
  if (experiment.train.method == Method::kSplit) {
    const SplitNetwork network = SplitNetworkAt(experiment, whole);
    server_part = MakeServerPart(experiment, network);
    split = SetupOf(experiment, network, *server_part);
    options.charged = network.held;
    options.training = {network.held, {{network.cut, network.wire}}, {}};
    options.cut = {whole, network.rest, MacsPerSecond{1e11}, server_part->waits_from()};
  }
  options.data = Devices();
  for (std::size_t i = 0; i < kSizes.size(); ++i) {
    DeviceProfile profile;
    profile.id = DeviceId{i};
    profile.compute = {1e9};
    profile.uplink = profile.downlink = {1e7};
    options.profiles.push_back(profile);
  }
  options.servers = {Server{}};
  options.disturbances = experiment.disturbances;
  options.seed = experiment.goal.seed;
  options.threads = 2;
  SimulatedFleet fleet(std::move(options));
  Silent silent;
  Coordinator coordinator(experiment, whole, fleet, silent, {}, std::move(split));
  const auto result = coordinator.Run();
  EXPECT_EQ(result.ok(), learns) << result.status();
  return {{coordinator.parameters().begin(), coordinator.parameters().end()},
          {coordinator.statistics().begin(), coordinator.statistics().end()}};
}

std::shared_ptr<const Model> WholeOf(const Experiment& experiment) {
  return *BuildNetwork(experiment.model.name, experiment, kShape, kFewClasses);
}

Weights Initial(const Experiment& experiment, const Model& whole) {
  Weights weights{std::vector<float>(whole.parameters.size), std::vector<float>(whole.statistics.size)};
  InitialiseWeights(whole, experiment.goal.seed, weights.parameters, weights.statistics);
  return weights;
}

void ExpectSame(const Weights& a, const Weights& b) {
  EXPECT_LE(Distance(a.parameters, b.parameters), 1e-5);
  EXPECT_LE(Distance(a.statistics, b.statistics), 1e-5);
}

// A rest with batch norms, and one without.
const std::vector<std::pair<std::string, std::string>> kNetworks = {{"resnet8", "layer1.0.relu"},
                                                                    {"cnn", "pool1"}};

Experiment Federated(Experiment experiment) {
  experiment.train.method = Method::kFederated;
  return experiment;
}

Disturbance Loses(std::vector<DeviceId> devices) {
  return {.kind = DisturbanceKind::kLose, .devices = std::move(devices)};
}

TEST(SplitFed, TheFirstIsFederatedAveragingOfTheWhole) {
  for (const auto& [model, cut] : kNetworks) {
    SCOPED_TRACE(model);
    const Experiment experiment = SplitFed(SplitVariant::kSplitFed1, model, cut);
    const auto whole = WholeOf(experiment);
    const Weights split = Learn(experiment, whole);
    ExpectSame(split, Learn(Federated(experiment), whole));
    EXPECT_GT(Distance(split.parameters, Initial(experiment, *whole).parameters), 1e-2);
  }
}

TEST(SplitFed, SoItIsWithAServersOptimiserAndSomeOfTheDevices) {
  Experiment experiment = SplitFed(SplitVariant::kSplitFed1, "resnet8", "conv1");
  experiment.fleet.participation = Portion::Count(2);
  experiment.train.server_optimiser.kind = ServerOptimiserKind::kMomentum;
  const auto whole = WholeOf(experiment);
  const Weights split = Learn(experiment, whole);
  ExpectSame(split, Learn(Federated(experiment), whole));
  experiment.train.server_optimiser.kind = ServerOptimiserKind::kNone;
  EXPECT_GT(Distance(Learn(experiment, whole).parameters, split.parameters), 1e-3);
}

TEST(SplitFed, WhoseFrontDoesNotComeHasNoPartInEitherHalfOfTheFirst) {
  Experiment experiment = SplitFed(SplitVariant::kSplitFed1, "resnet8", "layer1.0.relu");
  const auto whole = WholeOf(experiment);
  const Weights all = Learn(experiment, whole);
  experiment.disturbances = {Loses({DeviceId{1}})};  // It has been over the cut at every step by then.
  const Weights without = Learn(experiment, whole);
  ExpectSame(without, Learn(Federated(experiment), whole));
  EXPECT_GT(Distance(without.parameters, all.parameters), 1e-3);
}

// The published description, one network at a time: each client has its front, and they have one rest, which learns from
// them in turn. The fronts of the clients in `lost` are not in the mean.
Weights InTurn(const Experiment& experiment, const std::shared_ptr<const Model>& whole,
               const std::set<std::size_t>& lost) {
  const SplitNetwork network = SplitNetworkAt(experiment, whole);
  const std::size_t front = whole->parameters.From(network.cut + 1), all = whole->parameters.size;
  EXPECT_EQ(whole->statistics.From(network.cut + 1), 0U);  // A front has group norms.
  const std::vector<LocalData> devices = Devices();
  Weights weights = Initial(experiment, *whole);
  FlatBuffer parameters(all), statistics(whole->statistics.size), gradients(all);
  Executor executor(whole, {parameters.span(), statistics.span(), gradients.span()});
  const TrainAssignment assignment{.steps = kSteps};
  for (std::uint64_t round = 1; round <= 4; ++round) {
    const auto optimiser = [&](std::size_t size) {
      return MakeOptimiser(experiment.train.optimiser, size).value();
    };
    const auto begun = std::span<const float>(weights.parameters).first(front);
    std::vector<std::vector<float>> fronts(devices.size(), {begun.begin(), begun.end()});
    std::vector<std::unique_ptr<Optimiser>> of_fronts;
    for (std::size_t i = 0; i < devices.size(); ++i) of_fronts.push_back(optimiser(front));
    const auto of_rest = optimiser(all - front);
    const auto rest = parameters.span().subspan(front);
    std::copy(weights.parameters.begin() + static_cast<std::ptrdiff_t>(front), weights.parameters.end(),
              rest.begin());
    std::ranges::copy(weights.statistics, statistics.data());
    std::vector<double> samples(devices.size());
    for (int step = 0; step < kSteps; ++step) {
      for (const std::size_t i :
           SplitFedV2Server::Turns(5, RoundId{round}, step, assignment, devices.size())) {
        Batch batch;
        ReadBatch(devices[i], 8, {5, DeviceId{i}, (round - 1) * kSteps + static_cast<std::uint64_t>(step)},
                  {}, batch);
        std::ranges::copy(fronts[i], parameters.data());
        Rng rng(1);
        EXPECT_TRUE(executor.Train({batch.inputs, batch.labels}, {.label_smoothing = 0.1, .rng = &rng}).ok());
        of_fronts[i]->Step(fronts[i], gradients.span().first(front), 0.02);
        of_rest->Step(rest, gradients.span().subspan(front), 0.02);
        samples[i] += static_cast<double>(batch.labels.size());
      }
    }
    double weight = 0;
    std::vector<double> mean(front);
    for (std::size_t i = 0; i < devices.size(); ++i) {
      if (lost.contains(i)) continue;
      weight += samples[i];
      for (std::size_t p = 0; p < front; ++p) mean[p] += samples[i] * static_cast<double>(fronts[i][p]);
    }
    for (std::size_t p = 0; p < front; ++p) weights.parameters[p] = static_cast<float>(mean[p] / weight);
    std::ranges::copy(rest, weights.parameters.begin() + static_cast<std::ptrdiff_t>(front));
    weights.statistics.assign(statistics.data(), statistics.data() + statistics.size());
  }
  return weights;
}

TEST(SplitFed, TheSecondLearnsFromClientsInTurn) {
  UsePlainKernels();
  for (const auto& [model, cut] : kNetworks) {
    SCOPED_TRACE(model);
    const Experiment experiment = SplitFed(SplitVariant::kSplitFed2, model, cut);
    const auto whole = WholeOf(experiment);
    const Weights split = Learn(experiment, whole);
    ExpectSame(split, InTurn(experiment, whole, {}));
    EXPECT_GT(Distance(split.parameters, Learn(Federated(experiment), whole).parameters), 1e-3);
  }
}

TEST(SplitFed, WhatHasMovedTheSharedRestStaysMoved) {
  Experiment experiment = SplitFed(SplitVariant::kSplitFed2, "resnet8", "layer1.0.relu");
  const auto whole = WholeOf(experiment);
  experiment.disturbances = {Loses({DeviceId{1}})};
  ExpectSame(Learn(experiment, whole), InTurn(experiment, whole, {1}));
}

TEST(SplitFed, ARoundWithoutAnyUpdateChangesNothing) {
  for (const SplitVariant variant : {SplitVariant::kSplitFed1, SplitVariant::kSplitFed2}) {
    Experiment experiment = SplitFed(variant, "resnet8", "layer1.0.relu");
    const auto whole = WholeOf(experiment);
    experiment.disturbances = {Loses({DeviceId{0}, DeviceId{1}, DeviceId{2}})};
    const Weights initial = Initial(experiment, *whole), after = Learn(experiment, whole, /*learns=*/false);
    EXPECT_EQ(after.parameters, initial.parameters);
    EXPECT_EQ(after.statistics, initial.statistics);
  }
}

TEST(SplitFed, TurnsAreDrawnAnewAtEveryStep) {
  const TrainAssignment assignment{.steps = 10};
  std::set<std::vector<std::size_t>> orders;
  for (std::uint64_t round = 1; round <= 5; ++round) {
    for (int step = 0; step < 10; ++step) {
      auto order = SplitFedV2Server::Turns(1, RoundId{round}, step, assignment, 4);
      EXPECT_EQ(order, SplitFedV2Server::Turns(1, RoundId{round}, step, assignment, 4));
      orders.insert(order);
      std::ranges::sort(order);
      EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 3}));
    }
  }
  EXPECT_GT(orders.size(), 15U);  // 50 draws of 24 give 21 on average.
}

// Two devices at a rest, without fronts: what they send is noise.
class SplitFedHalfTest : public ::testing::Test {
 protected:
  explicit SplitFedHalfTest(SplitVariant variant = SplitVariant::kSplitFed1) { Use(variant); }

  void Use(SplitVariant variant) {
    experiment_ = SplitFed(variant, "resnet8", "layer1.0.relu");
    whole_ = WholeOf(experiment_);
    network_ = SplitNetworkAt(experiment_, whole_);
    server_part_ = MakeServerPart(experiment_, network_);
    weights_ = Initial(experiment_, *whole_);
    aggregate_ = std::make_unique<MeanAggregator>(*whole_, journal_);
    request_ = {};
    request_.round = RoundId{1};
    request_.participants = {DeviceId{0}, DeviceId{1}};
    request_.training() = {
        .answer = TrainAssignment::Answer::kChange, .steps = 2, .batch = 4, .learning_rate = 0.05};
    devices_.assign(2, DeviceProfile());
    devices_[0].samples = 4;
    devices_[1].samples = 3;
    Begin();
  }
  void Begin() {
    aggregate_->Begin(100);
    server_part_->Begin(request_, {devices_, {weights_.parameters, weights_.statistics}, *aggregate_});
  }

  Status Send(std::size_t device, int step, float scale = 1) {
    Rng rng(100 * device + static_cast<std::uint64_t>(step));
    const std::size_t samples = device == 0 ? 4 : 3;
    std::vector<float> values(samples * network_.wire.split_values);
    for (float& value : values) value = scale * static_cast<float>(Normal(rng));
    const std::vector<std::int32_t> labels(samples, step % kFewClasses);
    return server_part_->Take(device, {step, values, labels});
  }
  std::vector<float> ReplyOf(std::size_t device, int step) const {
    const SplitReply* const reply = server_part_->Reply(device, step);
    return reply != nullptr ? reply->values : std::vector<float>();
  }
  static RoundReport Report(std::vector<Outcome> outcomes) {
    RoundReport report;
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      report.devices.emplace_back();
      report.devices.back().device = DeviceId{i};
      report.devices.back().outcome = outcomes[i];
    }
    return report;
  }
  // What the rest has learnt.
  std::vector<float> Conclude(std::vector<Outcome> outcomes) {
    const Status status = server_part_->OnRoundAccepted(Report(std::move(outcomes)));
    EXPECT_TRUE(status.ok()) << status;
    const std::size_t at = whole_->parameters.From(network_.cut + 1);
    std::vector<float> mean(whole_->parameters.size - at);
    EXPECT_TRUE(aggregate_->Report(UpdatePart::kParameters, at, mean).ok());
    return mean;
  }

  Experiment experiment_;
  std::shared_ptr<const Model> whole_;
  SplitNetwork network_;
  std::unique_ptr<ServerPart> server_part_;
  Weights weights_;
  UpdateJournal journal_{"/tmp"};
  std::unique_ptr<MeanAggregator> aggregate_;
  WorkOrder request_;
  std::vector<DeviceProfile> devices_;
};

constexpr Outcome kApplied = Outcome::kApplied;

TEST_F(SplitFedHalfTest, WhatComesTwiceCountsOnce) {
  for (const SplitVariant variant : {SplitVariant::kSplitFed1, SplitVariant::kSplitFed2}) {
    std::vector<float> learnt[2];
    for (const bool twice : {false, true}) {
      Use(variant);
      for (int step = 0; step < 2; ++step) {
        for (const std::size_t device : {0U, 1U}) {
          ASSERT_TRUE(Send(device, step).ok());
          ASSERT_TRUE(!twice || Send(device, step).ok());
        }
        ASSERT_TRUE(server_part_->Close(step).ok());
        if (!twice) continue;
        // One comes back, and begins with the first step.
        const std::vector<float> before = ReplyOf(0, 0);
        ASSERT_TRUE(Send(0, 0).ok());
        EXPECT_EQ(ReplyOf(0, 0), before);
        EXPECT_FALSE(before.empty());
      }
      learnt[twice] = Conclude({kApplied, kApplied});
    }
    EXPECT_EQ(learnt[0], learnt[1]);
    EXPECT_GT(testing::Norm(learnt[0]), 0);
  }
}

TEST_F(SplitFedHalfTest, RoundsFollowEachOtherWithoutTraces) {
  for (const SplitVariant variant : {SplitVariant::kSplitFed1, SplitVariant::kSplitFed2}) {
    Use(variant);
    std::vector<float> learnt[2];
    for (auto& round : learnt) {
      Begin();
      for (int step = 0; step < 2; ++step) {
        ASSERT_TRUE(Send(0, step).ok());
        ASSERT_TRUE(Send(1, step).ok());
        ASSERT_TRUE(server_part_->Close(step).ok());
      }
      round = Conclude({kApplied, kApplied});
    }
    EXPECT_EQ(learnt[0], learnt[1]);
  }
}

TEST_F(SplitFedHalfTest, StepsComeInTheirOrder) {
  for (const SplitVariant variant : {SplitVariant::kSplitFed1, SplitVariant::kSplitFed2}) {
    Use(variant);
    EXPECT_NE(Send(0, 1).message().find("sends step 1 over the cut"), std::string::npos);
    EXPECT_NE(Send(0, 2).message().find("crossing 2 of the cut; there are 2"), std::string::npos);
    EXPECT_FALSE(Send(0, -1).ok());
    ASSERT_TRUE(Send(0, 0).ok());
    if (!server_part_->waits()) continue;
    ASSERT_TRUE(server_part_->Close(0).ok());
    // The others went on without it.
    EXPECT_NE(Send(1, 0).message().find("where all are at step 1"), std::string::npos);
  }
}

TEST_F(SplitFedHalfTest, WhatDoesNotFitIsRefused) {
  for (const SplitVariant variant : {SplitVariant::kSplitFed1, SplitVariant::kSplitFed2}) {
    Use(variant);
    devices_[1].samples = 2;  // It sends more than it has.
    Begin();
    EXPECT_NE(Send(1, 0).message().find("for 2 samples"), std::string::npos);
    EXPECT_FALSE(Send(0, 0, std::numeric_limits<float>::quiet_NaN()).ok());
  }
}

TEST_F(SplitFedHalfTest, WhatCannotBeLearntFromIsItsSendersLoss) {
  Use(SplitVariant::kSplitFed1);
  EXPECT_NE(Send(1, 0, 1e30F).message().find("use a lower learning rate"), std::string::npos);
  ASSERT_TRUE(Send(0, 0).ok());
  EXPECT_FALSE(ReplyOf(0, 0).empty());
  EXPECT_TRUE(ReplyOf(1, 0).empty());

  Use(SplitVariant::kSplitFed2);
  std::vector<float> learnt[2];
  for (const bool spoilt : {false, true}) {
    Begin();
    for (int step = 0; step < 2; ++step) {
      ASSERT_TRUE(Send(0, step).ok());
      ASSERT_TRUE(!spoilt || step > 0 || Send(1, 0, 1e30F).ok());
      ASSERT_TRUE(server_part_->Close(step).ok());
      EXPECT_FALSE(ReplyOf(0, step).empty());
      EXPECT_TRUE(ReplyOf(1, step).empty());
    }
    learnt[spoilt] = Conclude({kApplied, Outcome::kRefused});
  }
  EXPECT_EQ(learnt[0], learnt[1]);
}

TEST_F(SplitFedHalfTest, ARestThatIsNoNumberAnyMoreLetsNobodyGoOn) {
  Use(SplitVariant::kSplitFed2);
  request_.training().learning_rate = 1e38;
  Begin();
  ASSERT_TRUE(Send(0, 0).ok());
  ASSERT_TRUE(Send(1, 0).ok());
  EXPECT_NE(server_part_->Close(0).message().find("use a lower learning rate"), std::string::npos);
  EXPECT_TRUE(ReplyOf(0, 0).empty());
  EXPECT_TRUE(ReplyOf(1, 0).empty());
}

}  // namespace
}  // namespace tributary::inline coordinator
