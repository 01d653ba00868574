#include "tributary/coordinator/coordinator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tributary/base/distributions.h"
#include "tributary/coordinator/calibration.h"
#include "tributary/fleet/simulated/simulated_fleet.h"
#include "tributary/model/zoo.h"

namespace tributary {
namespace {

// Noise with a weak hint of the class: enough for gradients that mean something.
Dataset Samples(std::size_t count) {
  Rng rng(4);
  std::vector<float> values;
  std::vector<std::int32_t> labels;
  for (std::size_t i = 0; i < count; ++i) {
    labels.push_back(static_cast<std::int32_t>(i % 3));
    for (int p = 0; p < 144; ++p) values.push_back(static_cast<float>(Normal(rng, p % 3 == labels.back() ? 0.5 : 0, 1)));
  }
  return Dataset::Make({"noise", Shape{1, 12, 12}, 3, {}}, std::move(values), std::move(labels)).value();
}

class Silent : public EventSink {
 public:
  void Write(const Event& event) override { events.push_back(event); }
  std::vector<Event> events;
};

struct Setting {
  std::vector<std::size_t> sizes = {20, 30, 14};  // samples of each device
  std::string model = "cnn";
  std::size_t threads = 2;
};

// Runs some rounds over devices that hold consecutive runs of the same 64 samples.
std::vector<float> Train(const Experiment& experiment, const Setting& setting, Silent* log = nullptr) {
  static const Dataset data = Samples(64);
  const auto model = std::make_shared<const Model>(BuildZooGraph({setting.model, data.shape(), 3, Stem::kAuto}).value());
  SimulatedFleetOptions options{.model = model, .charged = model};
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < setting.sizes.size(); ++i) {
    DeviceProfile profile;
    profile.id = DeviceId{i};
    profile.group = "all";
    profile.compute = {1e9};
    profile.uplink = profile.downlink = {1e7};
    options.profiles.push_back(profile);
    LocalData local{&data, std::vector<std::uint32_t>(setting.sizes[i]), {}};
    std::iota(local.training.begin(), local.training.end(), next);
    next += static_cast<std::uint32_t>(setting.sizes[i]);
    options.data.push_back(local);
  }
  options.servers = {Server{}};
  options.disturbances = experiment.disturbances;
  options.threads = setting.threads;
  SimulatedFleet fleet(options);
  Silent silent;
  Coordinator coordinator(experiment, model, fleet, log != nullptr ? *log : silent,
                          [&](const SharedWeights& weights) { return fleet.EvaluateCentrally(data, weights); });
  const auto result = coordinator.Run();
  EXPECT_TRUE(result.ok()) << result.status();
  return {coordinator.parameters().begin(), coordinator.parameters().end()};
}

Experiment PlainSgd(Method method) {
  Experiment experiment;
  experiment.goal.name = "test";
  experiment.goal.rounds = 6;
  experiment.model.name = "cnn";
  experiment.train.method = method;
  experiment.train.batch = 64;
  experiment.train.schedule.learning_rate = 0.1;
  if (method == Method::kFederated) experiment.train.local_steps = 1;
  return experiment;
}

double Difference(const std::vector<float>& a, const std::vector<float>& b) {
  double largest = 0;
  double difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max<double>(largest, std::abs(b[i]));
    difference = std::max<double>(difference, std::abs(a[i] - b[i]));
  }
  return difference / largest;
}

TEST(SyncSgd, OverDevicesEqualsOneDeviceWithTheConcatenatedBatch) {
  Experiment experiment = PlainSgd(Method::kSyncSgd);
  experiment.train.optimiser.momentum = 0.9;
  const auto many = Train(experiment, {});
  const auto one = Train(experiment, {.sizes = {64}});
  EXPECT_LE(Difference(many, one), 1e-5);
  // The same start is not the reason.
  experiment.goal.rounds = 1;
  EXPECT_GT(Difference(Train(experiment, {}), one), 1e-3);
}

TEST(Federated, WithOneLocalStepOfPlainSgdEqualsSyncSgd) {
  EXPECT_LE(Difference(Train(PlainSgd(Method::kFederated), {}), Train(PlainSgd(Method::kSyncSgd), {})), 1e-5);
}

TEST(Federated, SeveralLocalStepsDifferAndAProximalTermHoldsThemBack) {
  Experiment experiment = PlainSgd(Method::kFederated);
  const auto start = Train([&] { auto e = experiment; e.train.schedule.learning_rate = 1e-30; return e; }(), {});
  experiment.train.local_steps = 5;
  const auto free = Train(experiment, {});
  experiment.train.prox = 5;
  const auto held = Train(experiment, {});
  EXPECT_LT(Difference(held, start), 0.8 * Difference(free, start));
}

TEST(Coordinator, GivesTheSameBitsForEveryNumberOfThreads) {
  Experiment experiment = PlainSgd(Method::kFederated);
  experiment.train.local_steps = 2;
  experiment.train.batch = 8;
  Silent one, four;
  EXPECT_EQ(Train(experiment, {.model = "resnet8", .threads = 1}, &one), Train(experiment, {.model = "resnet8", .threads = 4}, &four));
  EXPECT_EQ(one.events, four.events);
}

TEST(Coordinator, RefusesACorruptUpdateAndLeavesTheOthersUntouched) {
  Experiment experiment = PlainSgd(Method::kSyncSgd);
  experiment.disturbances = {{.kind = DisturbanceKind::kCorrupt, .devices = std::vector<DeviceId>{{1}}}};
  Silent log;
  const auto with_corrupt = Train(experiment, {}, &log);
  experiment.disturbances = {{.kind = DisturbanceKind::kVanish, .devices = std::vector<DeviceId>{{1}}}};
  // As if the device were not there: bit for bit.
  EXPECT_EQ(with_corrupt, Train(experiment, {}));
  int refused = 0;
  for (const Event& event : log.events) {
    if (const auto* finished = std::get_if<DeviceFinished>(&event.what)) {
      EXPECT_EQ(finished->outcome == Outcome::kRefused, finished->device == DeviceId{1});
      refused += finished->outcome == Outcome::kRefused ? 1 : 0;
    }
  }
  EXPECT_EQ(refused, 6);
}

TEST(Coordinator, StopsAtRoundsTimeTargetOrWhenTold) {
  const auto end_of = [](const Experiment& experiment) {
    Silent log;
    Train(experiment, {}, &log);
    return std::get<RunFinished>(log.events.back().what);
  };
  Experiment experiment = PlainSgd(Method::kSyncSgd);
  EXPECT_EQ(end_of(experiment).reason, RunEnd::kRounds);
  EXPECT_EQ(end_of(experiment).rounds, 6U);
  experiment.goal.time_budget = FromSeconds(0.001);
  EXPECT_EQ(end_of(experiment).reason, RunEnd::kTime);
  EXPECT_EQ(end_of(experiment).rounds, 1U);
  experiment.goal.time_budget.reset();
  experiment.goal.target_accuracy = 0.1;
  EXPECT_EQ(end_of(experiment).reason, RunEnd::kTarget);
}

TEST(EstimateStatistics, AreMeanAndVarianceOfWhatWasSummed) {
  const Model model(BuildZooGraph({"resnet8", Shape{1, 12, 12}, 3, Stem::kAuto}).value());
  Moments moments(model.statistics.size);
  const auto& slots = model.statistics.slots;
  const std::vector<double> values = {1, 2, 4, 9};
  for (const double value : values) {
    moments.sums[slots[0].segment.offset] += value;
    moments.sums[slots[1].segment.offset] += value * value;
    moments.counts[slots[0].segment.offset] += 1;
  }
  std::vector<float> statistics(model.statistics.size, 7);
  EstimateStatistics(model, moments, statistics);
  EXPECT_FLOAT_EQ(statistics[slots[0].segment.offset], 4);
  EXPECT_FLOAT_EQ(statistics[slots[1].segment.offset], 38.0F / 3);  // (9 + 4 + 0 + 25) / 3
  EXPECT_EQ(statistics[slots[0].segment.offset + 1], 7);             // nobody saw it
}

}  // namespace
}  // namespace tributary
