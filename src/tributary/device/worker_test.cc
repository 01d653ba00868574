#include "tributary/device/worker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "tributary/base/distributions.h"
#include "tributary/engine/compute.h"
#include "tributary/model/initialise.h"
#include "tributary/model/zoo.h"

namespace tributary::inline device {
namespace {

// A network with norms and branches, its weights, and a device with some samples.
class WorkerTest : public testing::Test {
 protected:
  WorkerTest()
      : model_(std::make_shared<const Model>(
            BuildZooGraph({"resnet8", Shape{3, 16, 16}, 10, Stem::kAuto}).value())),
        parameters_(model_->parameters.size),
        statistics_(model_->statistics.size),
        dataset_(Samples()) {
    SetComputeThreads(1);
    InitialiseWeights(*model_, 7, parameters_.span(), statistics_.span());
    data_.dataset = &dataset_;
    data_.training.resize(dataset_.size());
    std::iota(data_.training.begin(), data_.training.end(), 0U);
  }

  static Dataset Samples() {
    Rng rng(1);
    std::vector<float> values(20 * 3 * 16 * 16);
    for (float& value : values) value = static_cast<float>(Normal(rng));
    std::vector<std::int32_t> labels(20);
    for (auto& label : labels) label = static_cast<std::int32_t>(rng.Below(10));
    return Dataset::Make({.name = "noise", .shape = {3, 16, 16}, .classes = 10}, std::move(values),
                         std::move(labels))
        .value();
  }

  SharedWeights weights() const { return {parameters_.span(), statistics_.span()}; }

  // The plain way: whole weights, whole steps, the difference at the end.
  std::pair<std::vector<float>, std::vector<float>> Plainly(const TrainAssignment& assignment) {
    FlatBuffer mine(parameters_.size()), statistics(statistics_.size()), gradients(parameters_.size());
    std::ranges::copy(parameters_.span(), mine.data());
    std::ranges::copy(statistics_.span(), statistics.data());
    Executor executor(model_, {mine.span(), statistics.span(), gradients.span()});
    const auto optimiser = MakeOptimiser(assignment.optimiser, mine.size()).value();
    const bool changes = assignment.answer == TrainAssignment::Answer::kChange;
    const StepRange steps = StepsOf(assignment, data_);
    Batch batch;
    for (std::uint64_t i = 0; i < steps.count; ++i) {
      ReadBatch(data_, assignment.batch, {assignment.seed, DeviceId{3}, steps.first + i}, assignment.augment,
                batch);
      EXPECT_TRUE(executor.Train({batch.inputs, batch.labels}, {}).ok());
      if (!changes) continue;
      for (std::size_t j = 0; j < mine.size(); ++j) {
        if (assignment.prox > 0)
          gradients.data()[j] +=
              static_cast<float>(assignment.prox) * (mine.data()[j] - parameters_.data()[j]);
      }
      optimiser->Step(mine.span(), gradients.span(), assignment.learning_rate);
    }
    for (std::size_t j = 0; j < mine.size(); ++j) mine.data()[j] -= parameters_.data()[j];
    const auto& update = changes ? mine : gradients;
    return {{update.span().begin(), update.span().end()},
            {statistics.span().begin(), statistics.span().end()}};
  }

  std::shared_ptr<const Model> model_;
  FlatBuffer parameters_, statistics_;
  Dataset dataset_;
  LocalData data_;
};

std::vector<TrainAssignment> Assignments() {
  TrainAssignment gradient;
  gradient.batch = 8;
  TrainAssignment change = gradient;
  change.answer = TrainAssignment::Answer::kChange;
  change.steps = 1;
  change.optimiser.momentum = 0.9;
  change.optimiser.nesterov = true;
  change.optimiser.weight_decay = 1e-3;
  TrainAssignment steps = change;
  steps.steps = 3;
  steps.prox = 0.1;
  steps.round = RoundId{2};
  TrainAssignment epochs = steps;
  epochs.epochs = 2;
  epochs.optimiser = {.name = "adam"};
  epochs.learning_rate = 1e-3;
  return {gradient, change, steps, epochs};
}

TEST_F(WorkerTest, WeightsUnitByUnitAndUpdatesUnitByUnitGiveTheSameBits) {
  for (const TrainAssignment& assignment : Assignments()) {
    const auto [update, statistics] = Plainly(assignment);
    Worker worker(model_);
    const auto whole = worker.Train(assignment, weights(), DeviceId{3}, data_);
    ASSERT_TRUE(whole.ok()) << whole.status();
    EXPECT_TRUE(std::ranges::equal(whole->update.parameters, update));
    EXPECT_TRUE(std::ranges::equal(whole->update.statistics, statistics));
    EXPECT_EQ(whole->update.weight, static_cast<double>(SamplesOf(assignment, data_).all));

    // Weights are nonsense until they are asked for, and parts of the update are read when they are said to be ready.
    FlatBuffer late_parameters(parameters_.size()), late_statistics(statistics_.size());
    std::ranges::fill(late_parameters.span(), 1e30F);
    std::ranges::fill(late_statistics.span(), 1e30F);
    std::vector<float> got(parameters_.size(), -1), got_statistics(statistics_.size(), -1);
    std::vector<std::size_t> asked, ready;
    TrainHooks hooks;
    hooks.await = [&](std::size_t unit) {
      asked.push_back(unit);
      const Segment p = model_->parameters.units[unit], s = model_->statistics.units[unit];
      std::copy_n(parameters_.data() + p.offset, p.count, late_parameters.data() + p.offset);
      std::copy_n(statistics_.data() + s.offset, s.count, late_statistics.data() + s.offset);
      return true;
    };
    hooks.ready = [&](const Update& part, std::size_t unit) {
      ready.push_back(unit);
      EXPECT_EQ(part.weight, whole->update.weight);
      const Segment p = model_->parameters.units[unit], s = model_->statistics.units[unit];
      std::ranges::copy(part.parameters.subspan(p.offset, p.count),
                        got.begin() + static_cast<std::ptrdiff_t>(p.offset));
      std::ranges::copy(part.statistics.subspan(s.offset, s.count),
                        got_statistics.begin() + static_cast<std::ptrdiff_t>(s.offset));
    };
    Worker other(model_);
    const auto cut =
        other.Train(assignment, {late_parameters.span(), late_statistics.span()}, DeviceId{3}, data_, hooks);
    ASSERT_TRUE(cut.ok()) << cut.status();
    EXPECT_EQ(got, update);
    EXPECT_EQ(got_statistics, statistics);
    EXPECT_EQ(asked.size(), model_->units.size());
    std::sort(ready.begin(), ready.end());
    EXPECT_EQ(ready, asked);
  }
}

TEST_F(WorkerTest, GivesUpWhereAHookSaysSo) {
  for (const TrainAssignment& assignment : Assignments()) {
    Worker worker(model_);
    TrainHooks hooks;
    hooks.await = [](std::size_t unit) { return unit < 4; };
    hooks.ready = [](const Update&, std::size_t) { ADD_FAILURE(); };
    EXPECT_EQ(worker.Train(assignment, weights(), DeviceId{3}, data_, hooks).status().code(),
              StatusCode::kCancelled);
  }
}

TEST_F(WorkerTest, SendsNothingOfAPassWhoseLossIsNoNumber) {
  FlatBuffer broken(parameters_.size());
  std::ranges::fill(broken.span(), std::numeric_limits<float>::quiet_NaN());
  for (const TrainAssignment& assignment : Assignments()) {
    Worker worker(model_);
    TrainHooks hooks;
    hooks.ready = [](const Update&, std::size_t) { ADD_FAILURE(); };
    const auto trained =
        worker.Train(assignment, {broken.span(), statistics_.span()}, DeviceId{3}, data_, hooks);
    EXPECT_EQ(trained.status().code(), StatusCode::kInvalidArgument);
  }
}

TEST_F(WorkerTest, TimesPassesWithoutTheWaiting) {
  VirtualClock clock;
  TrainAssignment assignment = Assignments()[2];
  TrainHooks hooks;
  hooks.clock = &clock;
  hooks.await = [&](std::size_t) {
    clock.AdvanceTo(clock.Now() + std::chrono::seconds(5));
    return true;
  };
  hooks.ready = [&](const Update&, std::size_t) { clock.AdvanceTo(clock.Now() + std::chrono::seconds(1)); };
  Worker worker(model_);
  const auto trained = worker.Train(assignment, weights(), DeviceId{3}, data_, hooks);
  ASSERT_TRUE(trained.ok());
  const auto& [layers, between] = trained->times;
  EXPECT_EQ(std::accumulate(layers.forward.begin(), layers.forward.end(), Duration(0)), Duration(0));
  // What somebody does with a ready part holds the pass up, and counts for what follows: all but the last.
  EXPECT_EQ(std::accumulate(layers.backward.begin(), layers.backward.end(), Duration(0)),
            std::chrono::seconds(model_->units.size() - 1));
  EXPECT_EQ(between, Duration(0));
}

}  // namespace
}  // namespace tributary::inline device
