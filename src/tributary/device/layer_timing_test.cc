#include "tributary/device/layer_timing.h"

#include <gtest/gtest.h>

#include "tributary/engine/compute.h"
#include "tributary/model/zoo.h"

namespace tributary::inline device {
namespace {

// Every look at it takes a second.
class CountingClock : public Clock {
 public:
  TimePoint Now() const override { return std::chrono::seconds(++looks_); }

 private:
  mutable std::int64_t looks_ = 0;
};

TEST(LayerStopwatch, DividesTheWholeStepAmongItsUnits) {
  CountingClock clock;
  LayerStopwatch stopwatch(3, clock);
  stopwatch.Begin();
  for (const std::size_t unit : {0U, 1U, 2U}) {
    stopwatch.BeforeForward(unit);
    clock.Now();  // Somebody waits for something,
    clock.Now();
    stopwatch.Go();  // which is nobody's time.
  }
  stopwatch.ForwardDone();
  for (const std::size_t unit : {2U, 0U, 1U}) stopwatch.GradientReady(unit);
  const auto seconds = [](int n) { return Duration(std::chrono::seconds(n)); };
  EXPECT_EQ(stopwatch.times().forward, (std::vector<Duration>{seconds(2), seconds(1), seconds(1)}));
  EXPECT_EQ(stopwatch.times().backward, (std::vector<Duration>{seconds(1), seconds(1), seconds(1)}));
}

TEST(MeasureLayers, AddsUpToAStepAndSeesWhichLayerIsLarge) {
  SetComputeThreads(1);
  const auto clock = MakeRealClock();
  const auto model =
      std::make_shared<const Model>(BuildZooGraph({"resnet8", Shape{3, 32, 32}, 10, Stem::kAuto}).value());
  const auto times = MeasureLayers(model, 8, 5, *clock);
  ASSERT_TRUE(times.ok()) << times.status();
  ASSERT_EQ(times->forward.size(), model->units.size());
  Duration forward{0}, backward{0};
  for (std::size_t unit = 0; unit < model->units.size(); ++unit) {
    EXPECT_GT(times->forward[unit].count(), 0) << model->units[unit].name;
    EXPECT_GT(times->backward[unit].count(), 0) << model->units[unit].name;
    forward += times->forward[unit];
    backward += times->backward[unit];
  }
  // A 3×3 convolution over the whole image against the last linear layer: thousands of times the work.
  EXPECT_GT(times->forward[1], times->forward.back());
  EXPECT_GT(backward, forward / 2);
}

}  // namespace
}  // namespace tributary::inline device
