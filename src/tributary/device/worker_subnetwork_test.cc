#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tributary/base/distributions.h"
#include "tributary/device/worker.h"
#include "tributary/engine/compute.h"
#include "tributary/model/initialise.h"
#include "tributary/model/zoo.h"

namespace tributary::inline device {
namespace {

// A network with norms and branches, its weights, and a device with some samples.
class WorkerSubnetworkTest : public testing::Test {
 protected:
  WorkerSubnetworkTest()
      : model_(std::make_shared<const Model>(
            BuildZooGraph({"resnet8", Shape{3, 16, 16}, 10, Stem::kAuto, {}, {}}).value())),
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
    std::vector<float> values(40 * 3 * 16 * 16);
    for (float& value : values) value = static_cast<float>(Normal(rng));
    std::vector<std::int32_t> labels(40);
    for (auto& label : labels) label = static_cast<std::int32_t>(rng.Below(10));
    return Dataset::Make({.name = "noise", .shape = {3, 16, 16}, .classes = 10}, std::move(values),
                         std::move(labels))
        .value();
  }

  // Half of the channels of each group, others at every step.
  KeptAtoms Halves(std::uint64_t step) const {
    KeptAtoms kept = AllAtoms(model_->channels);
    Rng rng(100 + step);
    for (auto& atoms : kept) {
      Shuffle(rng, std::span(atoms));
      atoms.resize(atoms.size() / 2);
      std::ranges::sort(atoms);
    }
    return kept;
  }

  // 1 where a parameter belongs to what is kept.
  std::vector<float> MaskOf(const KeptAtoms& kept) const {
    const Model subnetwork(SubnetworkGraph(*model_, kept));
    SubnetworkMap map(*model_, subnetwork);
    map.Keep(kept);
    std::vector<float> mask(model_->parameters.size, 0.0F);
    map.ScatterAll(SubnetworkMap::Part::kParameters, std::vector<float>(subnetwork.parameters.size, 1.0F),
                   mask);
    return mask;
  }

  Worker::Trained Train(Worker& worker, const TrainAssignment& assignment, std::span<const float> parameters,
                        std::span<const float> statistics, const TrainHooks& hooks) {
    auto trained = worker.Train(assignment, {parameters, statistics}, DeviceId{3}, data_, hooks);
    EXPECT_TRUE(trained.ok()) << trained.status();
    return std::move(trained).value();
  }

  std::shared_ptr<const Model> model_;
  FlatBuffer parameters_, statistics_;
  Dataset dataset_;
  LocalData data_;
};

TrainAssignment Change(int steps) {
  TrainAssignment change;
  change.answer = TrainAssignment::Answer::kChange;
  change.batch = 8;
  change.steps = steps;
  change.learning_rate = 0.05;
  change.optimiser.momentum = 0.9;
  change.optimiser.weight_decay = 1e-2;
  change.prox = 0.1;
  return change;
}

TEST_F(WorkerSubnetworkTest, KeepingEverythingIsTrainingTheWholeToTheBit) {
  for (const std::string optimiser : {"sgd", "adam"}) {
    TrainAssignment change = Change(3);
    if (optimiser == "adam") {
      change.optimiser.name = optimiser;
      change.optimiser.momentum = 0;
    }
    for (const FilterScaling scaling : {FilterScaling::kNone, FilterScaling::kInverse}) {
      Worker whole(model_), subnetwork(model_);
      TrainHooks hooks;
      hooks.keep = [&](std::uint64_t) { return AllAtoms(model_->channels); };
      hooks.scaling = scaling;
      const auto expected = Train(whole, change, parameters_.span(), statistics_.span(), {});
      const auto found = Train(subnetwork, change, parameters_.span(), statistics_.span(), hooks);
      EXPECT_TRUE(std::ranges::equal(expected.update.parameters, found.update.parameters)) << optimiser;
      EXPECT_TRUE(std::ranges::equal(expected.update.statistics, found.update.statistics)) << optimiser;
    }
  }
}

// Against steps made by hand on the whole network's numbers: gradients from the worker one by one, momentum, decay and the
// pull on what is kept only.
TEST_F(WorkerSubnetworkTest, MomentumDecayAndPullActOnWhatIsKept) {
  constexpr int kSteps = 4;
  for (const FilterScaling scaling : {FilterScaling::kNone, FilterScaling::kInverse}) {
    const TrainAssignment change = Change(kSteps);
    Worker worker(model_);
    TrainHooks hooks;
    hooks.keep = [&](std::uint64_t i) { return Halves(i); };
    hooks.scaling = scaling;
    const auto trained = Train(worker, change, parameters_.span(), statistics_.span(), hooks);

    FlatBuffer mine(parameters_.size()), statistics(statistics_.size());
    std::ranges::copy(parameters_.span(), mine.data());
    std::ranges::copy(statistics_.span(), statistics.data());
    std::vector<double> momentum(parameters_.size(), 0);
    std::vector<bool> ever(parameters_.size(), false);
    for (int step = 0; step < kSteps; ++step) {
      Worker one(model_);
      TrainAssignment gradient;
      gradient.batch = change.batch;
      gradient.round = RoundId{static_cast<std::uint64_t>(step) + 1};  // whose batch is that step's
      const KeptAtoms kept = Halves(static_cast<std::uint64_t>(step));
      TrainHooks keep;
      keep.keep = [&](std::uint64_t) { return kept; };
      keep.scaling = scaling;
      const auto answer = Train(one, gradient, mine.span(), statistics.span(), keep);
      const std::vector<float> mask = MaskOf(kept);
      for (std::size_t i = 0; i < mask.size(); ++i) {
        if (mask[i] == 0) {
          EXPECT_EQ(answer.update.parameters[i], 0);
          continue;
        }
        ever[i] = true;
        const double weight = mine.data()[i];
        const double slope =
            answer.update.parameters[i] + change.prox * (weight - parameters_.data()[i]) + 1e-2 * weight;
        momentum[i] = step == 0 && momentum[i] == 0 ? slope : 0.9 * momentum[i] + slope;
        mine.data()[i] = static_cast<float>(weight - change.learning_rate * momentum[i]);
      }
      std::ranges::copy(answer.update.statistics, statistics.data());
    }
    double largest = 0, difference = 0;
    for (std::size_t i = 0; i < mine.size(); ++i) {
      const double expected =
          static_cast<double>(mine.data()[i]) - static_cast<double>(parameters_.data()[i]);
      largest = std::max(largest, std::abs(expected));
      difference =
          std::max(difference, std::abs(expected - static_cast<double>(trained.update.parameters[i])));
      if (!ever[i]) {
        EXPECT_EQ(trained.update.parameters[i], 0);
      }
    }
    EXPECT_LE(difference, 1e-4 * largest);
    EXPECT_GT(largest, 0);
  }
}

// Unit by unit, as it is sent, an update is what it is in the end.
TEST_F(WorkerSubnetworkTest, UnitsAreReadyWithWhatTheyWillBe) {
  for (const int steps : {1, 3}) {
    Worker worker(model_);
    TrainHooks hooks;
    hooks.keep = [&](std::uint64_t i) { return Halves(i); };
    std::vector<float> sent(parameters_.size(), 7);
    std::vector<float> tracked(statistics_.size(), 7);
    std::size_t units = 0;
    hooks.ready = [&](const Update& update, std::size_t unit) {
      ++units;
      const Segment& part = model_->parameters.units[unit];
      std::copy_n(update.parameters.begin() + static_cast<std::ptrdiff_t>(part.offset), part.count,
                  sent.begin() + static_cast<std::ptrdiff_t>(part.offset));
      const Segment& moments = model_->statistics.units[unit];
      std::copy_n(update.statistics.begin() + static_cast<std::ptrdiff_t>(moments.offset), moments.count,
                  tracked.begin() + static_cast<std::ptrdiff_t>(moments.offset));
    };
    const auto trained = Train(worker, Change(steps), parameters_.span(), statistics_.span(), hooks);
    EXPECT_EQ(units, model_->units.size());
    EXPECT_TRUE(std::ranges::equal(sent, trained.update.parameters));
    EXPECT_TRUE(std::ranges::equal(tracked, trained.update.statistics));
  }
}

}  // namespace
}  // namespace tributary::inline device
