// What [trust] leaves of hostile updates.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tributary/coordinator/coordinator.h"
#include "tributary/coordinator/testing_fleet.h"

namespace tributary::inline coordinator {
namespace {

class Remembering : public EventSink {
 public:
  void Write(const Event& event) override {
    if (const auto* const device = std::get_if<DeviceFinished>(&event.what)) devices.push_back(*device);
    if (const auto* const round = std::get_if<RoundFinished>(&event.what)) rounds.push_back(*round);
    if (const auto* const back = std::get_if<RolledBack>(&event.what)) rolled_back.push_back(*back);
    if (const auto* const device = std::get_if<Quarantined>(&event.what))
      quarantined.push_back(device->device);
    if (const auto* const note = std::get_if<Note>(&event.what)) notes += note->text + "\n";
  }
  std::vector<DeviceFinished> devices;
  std::vector<RoundFinished> rounds;
  std::vector<RolledBack> rolled_back;
  std::vector<DeviceId> quarantined;
  std::string notes;
};

using Spoil = decltype(TestingFleet::spoil);

struct TrustRun {
  std::vector<float> weights;
  Remembering events;
  RunOutcome outcome;
};

double Largest(std::span<const float> values) {
  double largest = 0;
  for (const float value : values) largest = std::max(largest, std::abs(static_cast<double>(value)));
  return largest;
}

// A loss that says how far the weights have gone.
double LossOf(const SharedWeights& weights) {
  return std::max(Largest(weights.parameters), Largest(weights.statistics));
}

struct TrustSetting {
  std::int64_t rounds = 5;
  bool test_set = false;
  std::int64_t evaluate_every = 1;
  std::function<double(DeviceId, const SharedWeights&)> loss;
  std::optional<std::int64_t> claim;  // how many samples device 2 says that it has
  Coordinator::OwnTraining own;       // with it, the rule is "trusted"
};

TrustRun TrainWith(const Spoil& spoil, const TrustOptions& trust = {}, const TrustSetting& setting = {}) {
  const auto model = TinyModel();
  TestingFleet fleet(*model);
  fleet.spoil = spoil;
  fleet.loss = setting.loss;
  if (setting.claim) fleet.Claim(DeviceId{2}, *setting.claim);
  Coordinator::CentralTest test;
  if (setting.test_set)
    test = [](const SharedWeights& weights) { return EvaluationTotals{10, 10 * LossOf(weights), 5}; };
  Experiment experiment;
  experiment.goal.name = "test";
  experiment.goal.rounds = setting.rounds;
  experiment.goal.evaluate_every = setting.evaluate_every;
  experiment.train.method = Method::kFederated;
  experiment.train.local_epochs = 1;
  experiment.trust = trust;
  if (setting.own) {
    experiment.aggregation.rule = *std::ranges::find(AggregationRules(), "trusted", &AggregationRule::name);
    experiment.aggregation.numbers = {1};
  }
  TrustRun run;
  Coordinator coordinator(experiment, model, fleet, run.events, test, {}, "/tmp", setting.own);
  const auto outcome = coordinator.Run();
  EXPECT_TRUE(outcome.ok()) << outcome.status();
  if (outcome.ok()) run.outcome = *outcome;
  run.weights.assign(coordinator.parameters().begin(), coordinator.parameters().end());
  return run;
}

TEST(Trust, HonestRunsAreThoseWithoutLimits) {
  const TrustRun limited = TrainWith({}),
                 unlimited = TrainWith({}, {.largest_share = 0, .clip = 0, .divergence = 0});
  EXPECT_EQ(limited.weights, unlimited.weights);
  EXPECT_EQ(limited.events.devices, unlimited.events.devices);
  EXPECT_EQ(limited.events.notes, "");
}

TEST(Trust, ADeviceThatSaysItHasMuchMoreCountsWithTheLargestShare) {
  const TrustRun limited = TrainWith({}, {.largest_share = 1});  // of 10, 11 and 12 samples
  for (const DeviceFinished& device : limited.events.devices) {
    EXPECT_EQ(device.capped, device.device.value == 2 ? 1U : 0U);
    EXPECT_EQ(device.samples, std::min<std::uint64_t>(11, 10 + device.device.value));
  }
  EXPECT_NE(limited.weights, TrainWith({}).weights);
  EXPECT_NE(limited.events.notes.find("device 2: its update of round 1 weighs more than"), std::string::npos);
}

// Of 10, 11 and any number of samples, 50 times the median are 550.
TEST(Trust, AClaimOfAHundredMillionSamplesWeighsAs50TimesTheMedian) {
  const Spoil zeros = [](DeviceId device, RoundId, std::span<float> parameters, double weight) {
    if (device.value == 2) std::ranges::fill(parameters, 0.0F);
    return weight;
  };
  const auto claims = [&](std::int64_t samples) { return TrainWith(zeros, {}, {.claim = samples}).weights; };
  EXPECT_EQ(claims(100'000'000), claims(550));
  EXPECT_NE(claims(549), claims(550));
}

TEST(Trust, HugeUpdatesAreClippedAndSaid) {
  const Spoil huge = [](DeviceId device, RoundId round, std::span<float> parameters, double weight) {
    if (device.value == 2 && round.value > 1) std::ranges::fill(parameters, 0x1p24F);
    return weight;
  };
  const TrustRun unlimited = TrainWith(huge, {.clip = 0, .divergence = 0}), limited = TrainWith(huge);
  EXPECT_GT(Largest(unlimited.weights), 1e6);
  EXPECT_LT(Largest(limited.weights), 1e4);
  std::uint64_t clipped = 0;
  for (const DeviceFinished& device : limited.events.devices) {
    clipped += device.clipped;
    EXPECT_EQ(device.clipped, device.device.value == 2 && device.round.value > 1 ? 1U : 0U);
  }
  EXPECT_EQ(clipped, 4U);
  EXPECT_NE(limited.events.notes.find("device 2: the norm of its update of round 2 is "), std::string::npos);
}

// Of the rule "trusted": devices send 1 in every element of a round with an odd number, and -1 in the others.
TEST(Trust, UpdatesAgainstTheCoordinatorsOwnSamplesAreNotApplied) {
  const Spoil alternating = [](DeviceId, RoundId round, std::span<float> parameters, double weight) {
    std::ranges::fill(parameters, round.value % 2 == 1 ? 1.0F : -1.0F);
    return weight;
  };
  std::vector<std::uint64_t> asked;
  const Coordinator::OwnTraining own = [&](const TrainAssignment& assignment,
                                           const SharedWeights& weights) -> StatusOr<std::vector<float>> {
    asked.push_back(assignment.round.value);
    return std::vector<float>(weights.parameters.size(), 0.25F);
  };
  const TrustRun run = TrainWith(alternating, {}, {.rounds = 4, .own = own});
  // The run has four rounds that count.
  EXPECT_EQ(asked, (std::vector<std::uint64_t>{1, 2, 3, 4, 5, 6, 7}));
  EXPECT_NE(run.events.notes.find("the updates of round 2 are not applied: no update points"),
            std::string::npos);
  EXPECT_NE(run.events.notes.find("the updates of round 4 are not applied: "), std::string::npos);
  EXPECT_EQ(run.events.notes.find("the updates of round 3 are not applied: "), std::string::npos);
  // Four rounds of a quarter each.
  const TrustRun start = TrainWith([](DeviceId, RoundId, std::span<float> parameters, double weight) {
    std::ranges::fill(parameters, 0.0F);
    return weight;
  });
  ASSERT_EQ(run.weights.size(), start.weights.size());
  for (std::size_t i = 0; i < run.weights.size(); ++i)
    ASSERT_NEAR(run.weights[i], start.weights[i] + 1.0F, 1e-5F);
}

TEST(Trust, AHugeUpdateInTheFirstRoundCostsTheRoundAndNothingElse) {
  const Spoil huge = [](DeviceId device, RoundId, std::span<float> parameters, double weight) {
    if (device.value == 0) std::ranges::fill(parameters, 0x1p24F);
    return weight;
  };
  const TrustRun limited = TrainWith(huge);
  EXPECT_LT(Largest(limited.weights), 1e4);
  EXPECT_NE(limited.events.notes.find("the updates of round 1 are not applied"), std::string::npos);
  EXPECT_EQ(limited.events.notes.find("the updates of round 2 are not applied"), std::string::npos);
}

// An attack of device 2 that nothing clips, from the third round on.
Spoil Boosted(float values) {
  return [values](DeviceId device, RoundId round, std::span<float> parameters, double weight) {
    if (device.value == 2 && round.value >= 3) std::ranges::fill(parameters, values);
    return weight;
  };
}

void ExpectQuarantineOfTheAttacker(const TrustRun& run, RolledBack expected) {
  ASSERT_EQ(run.events.rolled_back.size(), 1U);
  EXPECT_EQ(run.events.rolled_back[0].round, expected.round);
  EXPECT_EQ(run.events.rolled_back[0].to, expected.to);
  EXPECT_EQ(run.events.quarantined, std::vector<DeviceId>{{2}});
  EXPECT_LT(Largest(run.weights), 100);
  EXPECT_EQ(run.outcome.rounds, 12U);
  for (const DeviceFinished& device : run.events.devices) {
    EXPECT_EQ(device.outcome, Outcome::kApplied);
    EXPECT_TRUE(device.device.value != 2 || device.round <= expected.round);
  }
}

TEST(Divergence, WithATestSetTheRunReturnsToTheWeightsBeforeTheAttack) {
  const TrustRun ruined =
      TrainWith(Boosted(1e5F), {.clip = 0, .divergence = 0}, {.rounds = 12, .test_set = true});
  EXPECT_GT(Largest(ruined.weights), 1e5);
  ExpectQuarantineOfTheAttacker(TrainWith(Boosted(1e5F), {.clip = 0}, {.rounds = 12, .test_set = true}),
                                {{5}, {2}, ""});
  // Evaluated less often, it is the next evaluation that tells; the last one of a run is enough.
  ExpectQuarantineOfTheAttacker(
      TrainWith(Boosted(1e5F), {.clip = 0}, {.rounds = 12, .test_set = true, .evaluate_every = 2}),
      {{8}, {2}, ""});
  ExpectQuarantineOfTheAttacker(
      TrainWith(Boosted(1e5F), {.clip = 0}, {.rounds = 12, .test_set = true, .evaluate_every = 12}),
      {{12}, {0}, ""});
}

TEST(Divergence, OneHighLossAtTheEndIsNotHeldAgainstADeviceLikeTheOthers) {
  const Spoil all = [](DeviceId, RoundId, std::span<float> parameters, double weight) {
    std::ranges::fill(parameters, 1e5F);
    return weight;
  };
  const TrustRun run = TrainWith(all, {.clip = 0}, {.rounds = 12, .test_set = true, .evaluate_every = 12});
  EXPECT_EQ(run.events.rolled_back.size(), 1U);
  EXPECT_TRUE(run.events.quarantined.empty());
  EXPECT_LT(Largest(run.weights), 100);
}

TEST(Divergence, WithoutATestSetTheDevicesLossesTell) {
  const auto loss = [](DeviceId device, const SharedWeights& weights) {
    return device.value == 2 ? 0.1 : LossOf(weights);  // The attacker says that all is well.
  };
  ExpectQuarantineOfTheAttacker(TrainWith(Boosted(0x1p24F), {.clip = 0}, {.rounds = 12, .loss = loss}),
                                {{6}, {2}, ""});
}

TEST(Divergence, ALossThatIsNotFiniteIsNotWaitedFor) {
  const auto loss = [](DeviceId, const SharedWeights& weights) {
    return LossOf(weights) > 1e3 ? std::numeric_limits<double>::infinity() : 1;
  };
  ExpectQuarantineOfTheAttacker(TrainWith(Boosted(-1e5F), {.clip = 0}, {.rounds = 12, .loss = loss}),
                                {{4}, {2}, ""});
}

TEST(Divergence, OneDeviceCannotCallForIt) {
  const auto loss = [](DeviceId device, const SharedWeights&) { return device.value == 2 ? 1e308 : 1.0; };
  const TrustRun run = TrainWith({}, {}, {.rounds = 12, .loss = loss});
  EXPECT_TRUE(run.events.rolled_back.empty());
  // Nor make the mean of the losses anything: it counts with 50 times the loss of a guess over three classes.
  for (const RoundFinished& round : run.events.rounds)
    EXPECT_LT(*round.train_loss, 50 * std::log(3) * 12 / 33 + 1);
  EXPECT_NE(run.events.notes.find("device 2: it reports a loss of 1e+308 in round 1"), std::string::npos);
}

TEST(Divergence, NoMoreThanHalfOfTheDevicesAreQuarantined) {
  // Honest devices that diverge by themselves.
  const Spoil all = [](DeviceId, RoundId, std::span<float> parameters, double weight) {
    std::ranges::fill(parameters, 1e6F);
    return weight;
  };
  const TrustRun run = TrainWith(all, {.clip = 0}, {.rounds = 12, .test_set = true});
  EXPECT_EQ(run.events.quarantined.size(), 1U);  // of three
  EXPECT_EQ(run.events.rolled_back.size(), 4U);
  EXPECT_LT(Largest(run.weights), 100);
}

}  // namespace
}  // namespace tributary::inline coordinator
