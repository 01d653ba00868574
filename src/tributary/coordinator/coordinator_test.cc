#include "tributary/coordinator/coordinator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tributary/base/distributions.h"
#include "tributary/fleet/report.h"
#include "tributary/fleet/simulated/simulated_fleet.h"
#include "tributary/model/zoo.h"

namespace tributary::inline coordinator {
namespace {

// Noise with a weak hint of the class: enough for gradients that mean something.
Dataset Samples(std::size_t count) {
  Rng rng(4);
  std::vector<float> values;
  std::vector<std::int32_t> labels;
  for (std::size_t i = 0; i < count; ++i) {
    labels.push_back(static_cast<std::int32_t>(i % 3));
    for (int p = 0; p < 144; ++p)
      values.push_back(static_cast<float>(Normal(rng, p % 3 == labels.back() ? 0.5 : 0, 1)));
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
  std::vector<double> stream_rates;
};

// Runs some rounds over devices that hold consecutive runs of the same 64 samples.
std::vector<float> Train(const Experiment& experiment, const Setting& setting, Silent* log = nullptr) {
  static const Dataset data = Samples(64);
  const auto model =
      std::make_shared<const Model>(BuildZooGraph({setting.model, data.shape(), 3, Stem::kAuto}).value());
  SimulatedFleetOptions options{.training = {.model = model}, .charged = model};
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < setting.sizes.size(); ++i) {
    DeviceProfile profile;
    profile.id = DeviceId{i};
    profile.group = "all";
    profile.compute = {1e9};
    profile.uplink = profile.downlink = {1e7};
    if (!setting.stream_rates.empty()) profile.stream_rate = {setting.stream_rates[i]};
    options.profiles.push_back(profile);
    LocalData local{&data, std::vector<std::uint32_t>(setting.sizes[i]), {}};
    std::iota(local.training.begin(), local.training.end(), next);
    next += static_cast<std::uint32_t>(setting.sizes[i]);
    options.data.push_back(local);
  }
  options.servers = {Server{}};
  options.disturbances = experiment.disturbances;
  options.transfers = experiment.transfers;
  options.compression = experiment.compression;
  options.buffer = experiment.stream.buffer;
  options.threads = setting.threads;
  SimulatedFleet fleet(options);
  Silent silent;
  Coordinator coordinator(
      experiment, model, fleet, log != nullptr ? *log : silent,
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
  const auto start = Train(
      [&] {
        auto e = experiment;
        e.train.schedule.learning_rate = 1e-30;
        return e;
      }(),
      {});
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
  EXPECT_EQ(Train(experiment, {.model = "resnet8", .threads = 1}, &one),
            Train(experiment, {.model = "resnet8", .threads = 4}, &four));
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

TEST(Injection, OfEverythingIsTheSameStepAsOfNothing) {
  // Everyone shares all of its batch and always has the same one: from the second round on everyone trains on all
  // samples, and the mean of their gradients is what it was, each sample's being counted three times of three.
  Experiment experiment = PlainSgd(Method::kSyncSgd);
  const auto without = Train(experiment, {});
  experiment.injection = {1, 1};
  Silent log;
  const auto with = Train(experiment, {}, &log);
  EXPECT_LE(Difference(with, without), 1e-5);
  const std::int64_t sample = 40 + 144 * 4;  // a record's heading, and its values
  for (const Event& event : log.events) {
    if (const auto* device = std::get_if<DeviceFinished>(&event.what);
        device != nullptr && device->round.value > 1) {
      EXPECT_EQ(device->samples, 64U);
    }
    if (const auto* round = std::get_if<RoundFinished>(&event.what)) {
      EXPECT_EQ(round->bytes_injected.value, (round->round.value == 1 ? 64 : 64 + 2 * 64) * sample);
    }
  }
}

TEST(Injection, MovesAPartAndChargesItsBytes) {
  Experiment experiment = PlainSgd(Method::kSyncSgd);
  experiment.train.batch = 10;
  Silent plain, injected;
  const Setting even{.sizes = {20, 30, 10}};
  Train(experiment, even, &plain);
  experiment.injection = {0.3, 0.5};  // one of three shares five of its ten
  Train(experiment, even, &injected);
  const auto rounds = [](const Silent& log) {
    std::vector<RoundFinished> list;
    for (const Event& event : log.events) {
      if (const auto* round = std::get_if<RoundFinished>(&event.what)) list.push_back(*round);
    }
    return list;
  };
  const auto without = rounds(plain), with = rounds(injected);
  ASSERT_EQ(with.size(), without.size());
  const std::int64_t some = 5 * (40 + 144 * 4);
  for (std::size_t i = 0; i < with.size(); ++i) {
    EXPECT_EQ(without[i].bytes_injected.value, 0);
    EXPECT_EQ(with[i].bytes_injected.value, some + (i > 0 ? 2 * some : 0));
    EXPECT_EQ(with[i].bytes_up - without[i].bytes_up, Bytes{some});
    EXPECT_EQ(with[i].bytes_down - without[i].bytes_down, Bytes{i > 0 ? 2 * some : 0});
    EXPECT_GT(with[i].duration, without[i].duration);
  }
}

TEST(Injection, LeavesOutWhatCameWithALostUpdate) {
  Experiment experiment = PlainSgd(Method::kSyncSgd);
  experiment.goal.rounds = 3;
  experiment.injection = {1, 1};
  experiment.disturbances = {{.kind = DisturbanceKind::kLose,
                              .devices = std::vector<DeviceId>{{1}},
                              .rounds = std::vector<RoundId>{{1}}}};
  Silent log;
  Train(experiment, {}, &log);
  std::vector<std::uint64_t> samples;
  for (const Event& event : log.events) {
    if (const auto* device = std::get_if<DeviceFinished>(&event.what)) samples.push_back(device->samples);
  }
  // The second device's thirty are missing in the second round, except where they are its own batch.
  EXPECT_EQ(samples, (std::vector<std::uint64_t>{20, 0, 14, 34, 64, 34, 64, 64, 64}));
}

TEST(Injection, GivesTheSameBitsForEveryNumberOfThreadsOnStreamsToo) {
  Experiment experiment = PlainSgd(Method::kSyncSgd);
  experiment.train.batch = 8;
  experiment.injection = {0.7, 0.4};
  experiment.train.augment.padding = 1;
  Silent one, four;
  const Setting streams{.model = "resnet8", .threads = 1, .stream_rates = {10, 20, 40}};
  Setting more = streams;
  more.threads = 4;
  EXPECT_EQ(Train(experiment, streams, &one), Train(experiment, more, &four));
  EXPECT_EQ(one.events, four.events);
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
  EXPECT_EQ(statistics[slots[0].segment.offset + 1], 7);            // nobody saw it
}

TEST(Coordinator, HowTransfersAreCutChangesTimeAndNothingElse) {
  for (const Method method : {Method::kSyncSgd, Method::kFederated}) {
    Experiment experiment = PlainSgd(method);
    std::vector<float> whole;
    Duration sequential{0};
    for (const TransferStrategy strategy : kTransferStrategies) {
      experiment.transfers.strategy = strategy;
      Silent log;
      const std::vector<float> weights = Train(experiment, {}, &log);
      const TimePoint end = log.events.back().time;
      if (strategy == TransferStrategy::kSequential) {
        whole = weights;
        sequential = end;
      } else {
        EXPECT_EQ(weights, whole) << NameOf(strategy);
        EXPECT_LT(end, sequential) << NameOf(strategy);
      }
    }
  }
}

TEST(Coordinator, CompressedUpdatesDoNotDependOnHowTransfersAreCut) {
  for (const CompressionKind& kind :
       {CodecNamed("top-k"), CodecNamed("adaptive-top-k"), CodecNamed("int8")}) {
    Experiment experiment = PlainSgd(Method::kSyncSgd);
    experiment.compression.kind = kind;
    experiment.compression.delta = 0.6;
    const std::vector<float> whole = Train(experiment, {});
    experiment.transfers.strategy = TransferStrategy::kOptimal;
    Silent log;
    EXPECT_EQ(Train(experiment, {.threads = 1}, &log), whole);
    Bytes down, up;
    for (const Event& event : log.events) {
      const auto* round = std::get_if<RoundFinished>(&event.what);
      if (round == nullptr) continue;
      down += round->bytes_down;
      up += round->bytes_up;
    }
    EXPECT_LT(up.value, down.value);
  }
}

TEST(Coordinator, WithEverythingKeptCompressionIsNone) {
  Experiment experiment = PlainSgd(Method::kSyncSgd);
  const std::vector<float> dense = Train(experiment, {});
  experiment.compression = {.kind = CodecNamed("top-k"), .ratio = 1};
  EXPECT_EQ(Train(experiment, {}), dense);
}

TEST(Coordinator, BatchesFollowStreamsAndWeightsFollowBatches) {
  Experiment experiment = PlainSgd(Method::kSyncSgd);
  experiment.goal.rounds = 8;
  experiment.train.batch = 4;
  experiment.stream.batch = {.rule = BatchRule::kStreamRate, .smallest = 2, .largest = 30};
  const Setting setting{.stream_rates = {3, 12, 60}};
  for (const BufferPolicy policy : {BufferPolicy::kPersist, BufferPolicy::kTruncate}) {
    experiment.stream.buffer = policy;
    Silent log;
    Train(experiment, setting, &log);
    std::vector<std::uint64_t> samples(3), buffered(3), dropped(3), next(3);
    std::vector<double> rates(3);
    for (const Event& event : log.events) {
      const auto* device = std::get_if<DeviceFinished>(&event.what);
      if (device == nullptr) continue;
      const std::size_t i = device->device.value;
      if (device->round == RoundId{1}) {
        EXPECT_EQ(device->samples, 4U);  // No rate is known yet.
      }
      samples[i] = device->samples;
      buffered[i] = device->buffered;
      dropped[i] = device->dropped;
      rates[i] = device->stream_rate.value_or(0);
      // Each round goes on where the one before ended, or further where samples are dropped.
      ASSERT_TRUE(device->stream_first && device->stream_last);
      EXPECT_EQ(*device->stream_last - *device->stream_first + 1, device->samples);
      EXPECT_GE(*device->stream_first, next[i]);
      EXPECT_TRUE(policy == BufferPolicy::kTruncate || *device->stream_first == next[i]);
      next[i] = *device->stream_last + 1;
    }
    EXPECT_EQ(samples, (std::vector<std::uint64_t>{3, 12, 30}));  // of the last round
    EXPECT_NEAR(rates[2], 60, 2);
    // Half of the fastest stream is left over in every second.
    EXPECT_EQ(buffered[2] > 100, policy == BufferPolicy::kPersist);
    EXPECT_EQ(dropped[2] > 100, policy == BufferPolicy::kTruncate);
  }
}

TEST(Coordinator, TheLearningRateFollowsTheBatch) {
  Experiment experiment = PlainSgd(Method::kSyncSgd);
  experiment.train.batch = 8;
  experiment.train.schedule.learning_rate = 0.02;
  const std::vector<float> expected = Train(experiment, {.sizes = {16, 16, 16}});
  // Batches of 8 where the rate is meant for 4: twice the rate.
  experiment.train.schedule.learning_rate = 0.01;
  experiment.stream.base_batch = 4;
  experiment.stream.scaling.rule = RateScaling::kLinear;
  EXPECT_EQ(Train(experiment, {.sizes = {16, 16, 16}}), expected);
  experiment.stream.base_batch = 2;  // The root of four is two.
  experiment.stream.scaling.rule = RateScaling::kSquareRoot;
  EXPECT_EQ(Train(experiment, {.sizes = {16, 16, 16}}), expected);
  experiment.stream.scaling = {.rule = RateScaling::kLinear, .most = 2};
  EXPECT_EQ(Train(experiment, {.sizes = {16, 16, 16}}), expected);
}

}  // namespace
}  // namespace tributary::inline coordinator
