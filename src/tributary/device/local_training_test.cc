#include "tributary/device/local_training.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tributary/base/distributions.h"
#include "tributary/base/flat_buffer.h"
#include "tributary/engine/compute.h"
#include "tributary/model/initialise.h"
#include "tributary/model/zoo.h"

namespace tributary::inline device {
namespace {

// Three classes told apart by which third of the image is bright.
Dataset Stripes(std::size_t samples, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<float> values;
  std::vector<std::int32_t> labels;
  for (std::size_t i = 0; i < samples; ++i) {
    const auto label = static_cast<std::int32_t>(rng.Below(3));
    labels.push_back(label);
    for (int pixel = 0; pixel < 144; ++pixel) {
      const bool bright = pixel % 12 / 4 == label;
      values.push_back(static_cast<float>(Normal(rng, bright ? 1 : 0, 0.5)));
    }
  }
  return Dataset::Make({"stripes", Shape{1, 12, 12}, 3, {}}, std::move(values), std::move(labels)).value();
}

struct TrainingRun {
  TrainingRun()
      : model(
            std::make_shared<const Model>(BuildZooGraph({"cnn", Shape{1, 12, 12}, 3, Stem::kAuto}).value())),
        parameters(model->parameters.size),
        statistics(model->statistics.size) {
    InitialiseWeights(*model, 1, parameters.span(), statistics.span());
    options.batch = 16;
    options.optimiser.momentum = 0.9;
    options.schedule.learning_rate = 0.02;
  }
  StatusOr<LocalTrainingResult> Train(const LocalTrainingObserver& observer = {}) {
    return TrainLocally(options, model, data, parameters.span(), statistics.span(), clock, observer);
  }
  std::shared_ptr<const Model> model;
  FlatBuffer parameters, statistics;
  TrainTest data{Stripes(200, 1), Stripes(100, 2)};
  LocalTrainingOptions options;
  VirtualClock clock;
};

TEST(TrainLocally, Learns) {
  TrainingRun run;
  const auto result = run.Train();
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(result->epochs.size(), 3U);
  EXPECT_EQ(result->steps, 3U * 13);
  EXPECT_LT(result->epochs[2].train_loss, result->epochs[0].train_loss);
  EXPECT_GT(result->epochs[2].test.accuracy, 0.95);
  EXPECT_EQ(result->epochs[2].test.samples, 100U);
}

TEST(TrainLocally, GivesTheSameBitsForTheSameSeedAndOthersForAnother) {
  SetComputeThreads(1);
  TrainingRun first, second, third;
  third.options.seed = 2;
  for (TrainingRun* run : {&first, &second, &third}) {
    run->options.augment.flip = true;
    run->options.augment.padding = 2;
    ASSERT_TRUE(run->Train().ok());
  }
  EXPECT_TRUE(std::ranges::equal(first.parameters.span(), second.parameters.span()));
  EXPECT_FALSE(std::ranges::equal(first.parameters.span(), third.parameters.span()));
}

TEST(TrainLocally, StopsBetweenStepsWhenAsked) {
  TrainingRun run;
  int asked = 0;
  LocalTrainingObserver observer;
  observer.should_stop = [&] { return ++asked > 5; };
  const auto result = run.Train(observer);
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result->interrupted);
  EXPECT_EQ(result->steps, 5U);
}

TEST(TrainLocally, SaysWhenItDiverges) {
  TrainingRun run;
  run.options.schedule.learning_rate = 1e12;
  const auto result = run.Train();
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.status().message().find("not finite at step"), std::string::npos);
}

TEST(TrainLocally, RefusesNonsense) {
  for (const auto& spoil : std::vector<std::function<void(LocalTrainingOptions&)>>{
           [](auto& o) { o.epochs = 0; }, [](auto& o) { o.batch = 0; },
           [](auto& o) { o.label_smoothing = 1; }, [](auto& o) { o.optimiser.name = "sdg"; },
           [](auto& o) { o.schedule.name = "cosin"; }}) {
    TrainingRun run;
    spoil(run.options);
    EXPECT_EQ(run.Train().status().code(), StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace tributary::inline device
