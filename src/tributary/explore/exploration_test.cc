#include "tributary/explore/exploration.h"

#include <gtest/gtest.h>

#include <atomic>

#include "tributary/device/evaluation.h"
#include "tributary/explore/testing_exploration.h"
#include "tributary/explore/trials.h"
#include "tributary/explore/uniform_comparison.h"
#include "tributary/model/channel_groups.h"

namespace tributary::inline explore {
namespace {

// A millisecond passes whenever somebody looks.
class TickingClock : public Clock {
 public:
  TimePoint Now() const override { return std::chrono::milliseconds(++ticks_); }

 private:
  mutable std::atomic<int> ticks_ = 0;
};

struct ExplorationTest : testing::Test {
  std::unique_ptr<Exploration> Make(const ExploreOptions& options, const char* network = "resnet8") {
    auto made = Exploration::Make(options, SmallNetwork(network), data, {{"model", network}}, clock);
    EXPECT_TRUE(made.ok()) << made.status();
    return std::move(made).value();
  }
  std::unique_ptr<Exploration> Explored(const ExploreOptions& options, int generations) {
    auto exploration = Make(options);
    EXPECT_TRUE(exploration->Prepare({}).ok());
    for (int i = 0; i < generations; ++i) EXPECT_TRUE(exploration->Advance({}).ok());
    return exploration;
  }
  ~ExplorationTest() override { std::filesystem::remove(path); }

  TickingClock clock;
  Dataset data = StripedImages(200);
  std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "exploration_test.state";
};

std::string TextOf(const Exploration& exploration) {
  FrontExtras extras;
  extras.data = "test";
  extras.uniform = exploration.Uniform();
  extras.evaluated = exploration.standing().evaluated;
  return FormatFront(exploration.Front().value(), extras);
}

TEST_F(ExplorationTest, GivesAFrontThatIsSortedNotDominatedAndEndsWithTheFullNetwork) {
  const auto exploration = Explored(QuickExploration(), 3);
  const auto front = exploration->Front();
  ASSERT_TRUE(front.has_value());
  EXPECT_TRUE(CheckFront(*front).ok()) << CheckFront(*front);
  EXPECT_TRUE(CheckFrontFits(*front, *SmallNetwork("resnet8")).ok());
  EXPECT_GT(front->points.size(), 1u);
  const Exploration::Standing standing = exploration->standing();
  EXPECT_EQ(standing.generation, 3u);
  EXPECT_GE(standing.evaluated, 10u);
  EXPECT_GE(standing.screened, standing.evaluated);
  EXPECT_GT(standing.hypervolume, 0);
  EXPECT_EQ(standing.on_front, front->points.size());
  EXPECT_GE(standing.confirmed, front->points.size());
  EXPECT_EQ(standing.untrained, front->untrained);
  // A device that reads the rates keeps just as many channels as were explored.
  const auto network = SmallNetwork("resnet8");
  const ChannelGroups& groups = network->channels;
  for (const FrontPoint& point : front->points) {
    EXPECT_EQ(RatesOf(groups, KeptCounts(groups, point.dropout)), point.dropout);
  }
}

// By another way: the weights of a snapshot in an executor of their own, over the same samples. A network without norms, so
// that there are no statistics to estimate.
TEST_F(ExplorationTest, NoTrainingIsTheLossOfTheSnapshots) {
  ExploreOptions options = QuickExploration();
  options.scale_filters = true;
  const auto exploration = Make(options, "mlp");
  ASSERT_TRUE(exploration->Prepare({}).ok());
  const auto model = SmallNetwork("mlp");
  const ExplorationData divided =
      ExplorationData::Divide(data, options.samples, options.batch, options.seed).value();
  std::vector<Snapshot> snapshots;
  double sum = 0;
  while (snapshots.size() < kSnapshots) {
    snapshots.push_back(NextSnapshot(options, model, divided, snapshots, {}).value());
    Executor executor(model, {snapshots.back().parameters.span(), snapshots.back().statistics.span(), {}});
    sum += Evaluate(executor, data, divided.evaluation).value().loss;
  }
  EXPECT_DOUBLE_EQ(exploration->standing().untrained.value(), sum / kSnapshots);
}

// Steps so large that they do nothing but harm.
TEST_F(ExplorationTest, WhatDoesHarmIsNotOnTheFront) {
  const auto front_at = [&](double rate) {
    ExploreOptions options = QuickExploration();
    options.learning_rate = rate;
    const auto exploration = Make(options);
    EXPECT_TRUE(exploration->Prepare({}).ok());
    EXPECT_TRUE(exploration->Advance({}).ok());
    return exploration->Front().value();
  };
  for (const double rate : {0.02, 5.0}) {
    const ParetoFront front = front_at(rate);
    EXPECT_TRUE(CheckFront(front).ok()) << CheckFront(front);
    for (std::size_t i = 1; i + 1 < front.points.size(); ++i) {
      EXPECT_LT(front.points[i].convergence, *front.untrained) << "learning rate " << rate << ", point " << i;
    }
    // Whoever has little finds something all the same: the smallest sub-network there is.
    for (const double dropped : front.points.front().dropout) EXPECT_GE(dropped, 0.5);
  }
}

// The simulator's time: three passes of multiply-accumulates for every sample of the batch, over the rate.
TEST_F(ExplorationTest, TimesCanBeThoseOfAnotherDevice) {
  ExploreOptions options = QuickExploration();
  options.cost = FrontCost::kTime;
  options.profile = CostModel{.fixed = 0, .per_mac = 1 / 300e6, .per_byte = 0};
  const auto exploration = Explored(options, 1);
  const ParetoFront front = exploration->Front().value();
  for (const FrontPoint& point : front.points) {
    EXPECT_NEAR(point.time_ms, 1e3 * 3 * point.macs * 8 / 300e6, 1e-9 * point.time_ms);
  }
  // Nothing is measured, so that all is the same again.
  EXPECT_EQ(TextOf(*Explored(options, 1)), TextOf(*exploration));
  // And it is another search than one with this machine's times.
  ASSERT_TRUE(exploration->Save(path).ok());
  options.profile.reset();
  EXPECT_NE(Make(options)->Resume(path).message().find("its profile is fixed 0 s"), std::string::npos);
}

TEST_F(ExplorationTest, DoesNotDependOnTheNumberOfThreads) {
  ExploreOptions options = QuickExploration();
  const std::string one = TextOf(*Explored(options, 2));
  options.threads = 3;
  EXPECT_EQ(TextOf(*Explored(options, 2)), one);
  options.seed = 2;
  EXPECT_NE(TextOf(*Explored(options, 2)), one);
}

// Stopped again and again, at moments that have nothing to do with generations, and gone on with in a new object from
// the file: in the end the same front, from the same candidates.
TEST_F(ExplorationTest, InterruptedAndResumedIsAsUninterrupted) {
  const ExploreOptions options = QuickExploration();
  const std::string whole = TextOf(*Explored(options, 3));
  int interruptions = 0;
  std::unique_ptr<Exploration> exploration = Make(options);
  while (exploration->standing().generation < 3) {
    std::atomic<int> asked = 0;
    const Exploration::Watch watch{[&] { return ++asked > 100; }, {}};
    Status status = exploration->Prepare(watch);
    while (status.ok() && exploration->standing().generation < 3)
      status = exploration->Advance(watch).status();
    if (status.ok()) break;
    ASSERT_EQ(status.code(), StatusCode::kCancelled) << status;
    ASSERT_LT(++interruptions, 100);
    ASSERT_TRUE(exploration->Save(path).ok());
    exploration = Make(options);
    ASSERT_TRUE(exploration->Resume(path).ok());
  }
  EXPECT_GT(interruptions, 2);
  EXPECT_EQ(TextOf(*exploration), whole);
}

TEST_F(ExplorationTest, DoesNotGoOnWithAnotherSetup) {
  ASSERT_TRUE(Make(QuickExploration())->Save(path).ok());
  ExploreOptions options = QuickExploration();
  options.steps = 4;
  const Status status = Make(options)->Resume(path);
  EXPECT_NE(status.message().find("its steps is 3, and 4 was asked for"), std::string::npos) << status;
  EXPECT_NE(status.message().find(path.string()), std::string::npos) << status;
}

// Another rule is another search, from snapshots that were trained by it, and the front says which it was.
TEST_F(ExplorationTest, ExploresWithTheChannelsThatDevicesWillKeep) {
  ExploreOptions options = QuickExploration();
  const auto random = Explored(options, 1);
  EXPECT_EQ(random->Front()->channels, ChannelChoice::kRandom);
  options.channels = ChannelChoice::kFirst;
  const auto first = Explored(options, 1);
  EXPECT_EQ(first->Front()->channels, ChannelChoice::kFirst);
  EXPECT_NE(first->standing().untrained, random->standing().untrained);
  EXPECT_NE(first->Uniform()[0].convergence, random->Uniform()[0].convergence);
  ASSERT_TRUE(random->Save(path).ok());
  const Status status = Make(options)->Resume(path);
  EXPECT_NE(status.message().find("its channels is random, and first was asked for"), std::string::npos)
      << status;
}

TEST_F(ExplorationTest, EndsWhereThereIsNothingNew) {
  ExploreOptions options = QuickExploration();
  options.steps = options.screening_steps = 1;
  const auto exploration = Make(options, "mlp");
  ASSERT_TRUE(exploration->Prepare({}).ok());
  int generations = 0;
  for (bool more = true; more; ++generations) {
    ASSERT_LT(generations, 5000);
    const auto advanced = exploration->Advance({});
    ASSERT_TRUE(advanced.ok()) << advanced.status();
    more = *advanced;
  }
}

TEST_F(ExplorationTest, ComparesWithUniformVectorsUnderOtherChance) {
  const auto exploration = Explored(QuickExploration(), 1);
  const auto compared = CompareWithUniform(*exploration, 2, {});
  ASSERT_TRUE(compared.ok() && compared->has_value()) << compared.status();
  const FrontExtras::Comparison& comparison = **compared;
  const std::vector<FrontPoint> uniform = exploration->Uniform();
  const std::vector<FrontPoint> front = exploration->Front()->points;
  ASSERT_EQ(comparison.uniform.size(), uniform.size());
  ASSERT_EQ(comparison.front.size(), front.size());
  const auto check = [&](const FrontExtras::Retrained& one, const FrontPoint& point) {
    EXPECT_EQ(one.point, point);
    ASSERT_EQ(one.losses.size(), 2u);
    EXPECT_NE(one.losses[0], one.losses[1]);
    EXPECT_NE(one.losses[0], point.convergence);
    for (const FrontExtras::Retrained& other : comparison.uniform) {
      if (other.point.dropout == point.dropout) {
        EXPECT_EQ(other.losses, one.losses);
      }
    }
  };
  for (std::size_t i = 0; i < uniform.size(); ++i) check(comparison.uniform[i], uniform[i]);
  for (std::size_t i = 0; i < front.size(); ++i) check(comparison.front[i], front[i]);
  // Without a training there is nothing to compare.
  const auto stopped = CompareWithUniform(*exploration, 2, {[] { return true; }, {}});
  ASSERT_TRUE(stopped.ok()) << stopped.status();
  EXPECT_FALSE(stopped->has_value());
}

TEST_F(ExplorationTest, RefusesWhatCannotBeExplored) {
  const auto error = [&](const ExploreOptions& options, const Dataset& dataset) {
    const auto made = Exploration::Make(options, SmallNetwork("resnet8"), dataset, {}, clock);
    return made.ok() ? "" : made.status().message();
  };
  ExploreOptions options = QuickExploration();
  EXPECT_NE(error(options, StripedImages(12)).find("has 12 training samples"), std::string::npos);
  options.population = 3;
  EXPECT_NE(error(options, data).find("vectors of the population must be from 10 to"), std::string::npos);
  options = QuickExploration();
  options.screening_steps = 4;
  EXPECT_NE(error(options, data).find("mini-batches of a screening"), std::string::npos);
}

}  // namespace
}  // namespace tributary::inline explore
