// What [trust] leaves of hostile updates: A3 and A5 of the attacks that were tried.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tributary/coordinator/coordinator.h"
#include "tributary/coordinator/testing_fleet.h"

namespace tributary::inline coordinator {
namespace {

class Remembering : public EventSink {
 public:
  void Write(const Event& event) override {
    if (const auto* const device = std::get_if<DeviceFinished>(&event.what)) devices.push_back(*device);
    if (const auto* const note = std::get_if<Note>(&event.what)) notes += note->text + "\n";
  }
  std::vector<DeviceFinished> devices;
  std::string notes;
};

using Spoil = decltype(TestingFleet::spoil);

struct TrustRun {
  std::vector<float> weights;
  Remembering events;
  RunOutcome outcome;
};

TrustRun TrainWith(const Spoil& spoil, const TrustOptions& trust = {}, std::int64_t rounds = 5,
                   const Coordinator::OwnTraining& own = {}) {
  const auto model = TinyModel();
  TestingFleet fleet(*model);
  fleet.spoil = spoil;
  Experiment experiment;
  experiment.goal.name = "test";
  experiment.goal.rounds = rounds;
  experiment.train.method = Method::kFederated;
  experiment.train.local_epochs = 1;
  experiment.trust = trust;
  if (own) {
    experiment.aggregation.rule = *std::ranges::find(AggregationRules(), "trusted", &AggregationRule::name);
    experiment.aggregation.numbers = {1};
  }
  TrustRun run;
  Coordinator coordinator(experiment, model, fleet, run.events, {}, {}, "/tmp", own);
  const auto outcome = coordinator.Run();
  EXPECT_TRUE(outcome.ok()) << outcome.status();
  if (outcome.ok()) run.outcome = *outcome;
  run.weights.assign(coordinator.parameters().begin(), coordinator.parameters().end());
  return run;
}

double Largest(const std::vector<float>& values) {
  double largest = 0;
  for (const float value : values) largest = std::max(largest, std::abs(static_cast<double>(value)));
  return largest;
}

TEST(Trust, HonestRunsAreThoseWithoutLimits) {
  const TrustRun limited = TrainWith({}), unlimited = TrainWith({}, {.largest_share = 0, .clip = 0});
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

TEST(Trust, HugeUpdatesAreClippedAndSaid) {
  const Spoil huge = [](DeviceId device, RoundId round, std::span<float> parameters, double weight) {
    if (device.value == 2 && round.value > 1) std::ranges::fill(parameters, 0x1p24F);
    return weight;
  };
  const TrustRun unlimited = TrainWith(huge, {.clip = 0}), limited = TrainWith(huge);
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
  const TrustRun run = TrainWith(
      alternating, {}, 4,
      [&](const TrainAssignment& assignment, const SharedWeights& weights) -> StatusOr<std::vector<float>> {
        asked.push_back(assignment.round.value);
        return std::vector<float>(weights.parameters.size(), 0.25F);
      });
  EXPECT_EQ(asked, (std::vector<std::uint64_t>{1, 2, 3, 4}));
  EXPECT_NE(run.events.notes.find("the updates of round 2 are not applied: no update points"),
            std::string::npos);
  EXPECT_NE(run.events.notes.find("the updates of round 4 are not applied: "), std::string::npos);
  EXPECT_EQ(run.events.notes.find("the updates of round 3 are not applied: "), std::string::npos);
  // Two rounds of a quarter each.
  const TrustRun start = TrainWith([](DeviceId, RoundId, std::span<float> parameters, double weight) {
    std::ranges::fill(parameters, 0.0F);
    return weight;
  });
  ASSERT_EQ(run.weights.size(), start.weights.size());
  for (std::size_t i = 0; i < run.weights.size(); ++i)
    ASSERT_NEAR(run.weights[i], start.weights[i] + 0.5F, 1e-5F);
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

}  // namespace
}  // namespace tributary::inline coordinator
