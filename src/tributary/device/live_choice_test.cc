#include "tributary/device/live_choice.h"

#include <gtest/gtest.h>

#include "tributary/model/zoo.h"
#include "tributary/policy/dropout/testing_front.h"

namespace tributary::inline device {
namespace {

constexpr std::size_t kBatch = 10;
constexpr double kWhole =
    100;  // processor seconds of a step of the whole network: long against the time a test takes
constexpr double kTime = 50;

class LiveChoiceTest : public ::testing::Test {
 protected:
  LiveChoiceTest() : clock_(MakeRealClock()) {
    const Model model(BuildZooGraph({.name = "resnet8"}).value());
    menu_ = std::make_shared<const DropoutMenu>(
        DropoutMenu::Make(model, {.method = SubnetworkRuleNamed("pareto"),
                                  .front = testing::FrontFor(model, {0.9, 0.7, 0.5, 0.4, 0.3, 0.2, 0.1})})
            .value());
  }

  LiveChoice Make(std::optional<double> share, double processors = 1) const {
    LiveChoice::Options options{.menu = menu_, .processors = processors};
    options.known = {0, kWhole / (kBatch * menu_->entries().back().features.macs), 0};
    if (share) options.availability = Availability::Make(*share, 1, DeviceId{0}).value();
    return LiveChoice(std::move(options), *clock_);
  }
  // What it chooses for the first of so many steps.
  std::size_t First(LiveChoice& choice, std::size_t steps = 1, bool deadline = true) const {
    std::optional<TimePoint> until;
    if (deadline) until = clock_->Now() + FromSeconds(kTime);
    choice.Begin({1, DeviceId{0}, RoundId{1}}, std::vector<std::size_t>(steps, kBatch), until);
    EXPECT_FALSE(choice.Next().empty());
    return choice.choice().chosen().front();
  }
  std::size_t BestWithin(double cost) const {
    return menu_->BestFit([&](const DropoutMenu::Entry& entry) { return entry.cost <= cost; });
  }

  const std::unique_ptr<Clock> clock_;
  std::shared_ptr<const DropoutMenu> menu_;
};

TEST_F(LiveChoiceTest, TakesTheBestThatFitsItsShareOfTheProcessor) {
  // With a twentieth in reserve.
  for (const double share : {1.0, 0.7, 0.5, 0.3}) {
    LiveChoice choice = Make(share);
    EXPECT_EQ(First(choice), BestWithin(0.95 * kTime * share / kWhole)) << share;
  }
  ASSERT_NE(BestWithin(0.95 * 0.5), BestWithin(0.95 * 0.25));
  LiveChoice two = Make(1.0, 2);
  EXPECT_EQ(First(two), BestWithin(0.95 * 2 * kTime / kWhole));
}

TEST_F(LiveChoiceTest, DividesTheTimeAmongTheSteps) {
  LiveChoice choice = Make(1.0);
  EXPECT_EQ(First(choice, 2), BestWithin(0.95 * kTime / 2 / kWhole));
}

TEST_F(LiveChoiceTest, LeavesTimeToSend) {
  LiveChoice choice = Make(1.0);
  First(choice);
  choice.Sent(FromSeconds(20));
  EXPECT_EQ(First(choice), BestWithin((0.95 * kTime - 20) / kWhole));
  ASSERT_NE(BestWithin((0.95 * kTime - 20) / kWhole), BestWithin(0.95 * kTime / kWhole));
}

TEST_F(LiveChoiceTest, WithoutADeadlineTrainsEverything) {
  LiveChoice choice = Make(0.01);
  EXPECT_EQ(First(choice, 1, /*deadline=*/false), menu_->entries().size() - 1);
}

TEST_F(LiveChoiceTest, LearnsWhatStepsCost) {
  // They take next to nothing, which is seen at the end of each of them but the first.
  LiveChoice choice = Make(1.0);
  constexpr std::size_t kSteps = 8;
  EXPECT_LT(First(choice, kSteps), menu_->entries().size() - 1);
  for (std::size_t step = 1; step < kSteps; ++step) choice.Next();
  choice.End(Duration(1));
  EXPECT_EQ(choice.choice().chosen().back(), menu_->entries().size() - 1);
  EXPECT_EQ(First(choice), menu_->entries().size() - 1);
}

}  // namespace
}  // namespace tributary::inline device
