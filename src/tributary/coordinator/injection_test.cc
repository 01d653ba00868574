#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tributary/coordinator/coordinator.h"
#include "tributary/coordinator/testing_fleet.h"

namespace tributary::inline coordinator {
namespace {

class Quiet : public EventSink {
 public:
  void Write(const Event&) override {}
};

// Devices that answer with one-hot gradients, so that the step itself shows how much each of them counted for. Which of
// them drop out is drawn; batches follow streams of which the rate jumps about. Shared samples are numbers only: who
// gets how many.
class OneHotFleet : public Fleet {
 public:
  OneHotFleet(const Model& model, std::size_t devices, std::uint64_t seed) : model_(model), rng_(seed) {
    for (std::size_t i = 0; i < devices; ++i) {
      devices_.emplace_back();
      devices_[i].id = DeviceId{i};
      devices_[i].samples = 1000;
    }
    shared_.assign(devices, 0);
  }

  Status Gather() override { return OkStatus(); }
  std::span<const DeviceProfile> devices() const override { return devices_; }
  bool Present(DeviceId) const override { return true; }
  const Clock& clock() const override { return clock_; }
  void RollBack(std::span<const DeviceId>) override {}
  std::optional<SamplesPerSecond> StreamRate(DeviceId) const override {
    return SamplesPerSecond{static_cast<double>(rng_.Below(300))};
  }

  std::size_t Shared() const override {
    return std::accumulate(shared_.begin(), shared_.end(), std::size_t{0});
  }
  Status Dispatch(WorkOrder order, UpdateSink* sink) override {
    order_ = std::move(order);
    sink_ = sink;
    return OkStatus();
  }
  StatusOr<FleetEvent> Next(std::optional<TimePoint>) override { return FleetEvent{clock_.Now()}; }
  StatusOr<RoundReport> Close() override {
    if (!std::holds_alternative<TrainAssignment>(order_.work)) return RoundReport{};
    const WorkOrder request = std::exchange(order_, {});  // and its lease
    UpdateSink& sink = *sink_;
    RoundReport report{clock_.Now(), clock_.Now() + std::chrono::seconds(1), {}, {}, {}};
    weights.assign(devices_.size(), 0);
    std::vector<std::size_t> sharing(devices_.size(), 0);
    const std::size_t all = Shared();
    for (std::size_t i = 0; i < request.participants.size(); ++i) {
      const DeviceId device = request.participants[i];
      DeviceReport& answer = report.devices.emplace_back();
      answer.device = device;
      EXPECT_LE(request.ShareOf(i), request.BatchOf(i));
      if (rng_.Below(3) == 0) continue;
      const std::size_t samples = request.BatchOf(i) + all - shared_[device.value];
      std::vector<float> gradient(model_.parameters.size, 0), statistics(model_.statistics.size, 1);
      gradient[device.value] = 1;
      const Update update{gradient, statistics, static_cast<double>(samples)};
      TRIBUTARY_RETURN_IF_ERROR(sink.Take(WorkOf(device), update.pieces()));
      answer.outcome = Outcome::kApplied;
      answer.metrics.samples = static_cast<std::int64_t>(samples);
      weights[device.value] = static_cast<double>(samples);
      sharing[device.value] = request.ShareOf(i);
    }
    shared_ = sharing;
    clock_.AdvanceTo(report.end);
    return report;
  }

  std::vector<double> weights;  // of those that were applied in the last round, in samples

 private:
  const Model& model_;
  std::vector<DeviceProfile> devices_;
  mutable Rng rng_;
  WorkOrder order_;
  UpdateSink* sink_ = nullptr;
  VirtualClock clock_;
  std::vector<std::size_t> shared_;  // samples of each device, in the last round
};

// Every round is one step of plain SGD with learning rate 1, so a parameter falls by what its device's gradient weighs.
void ExpectWeightsThatAddUp(const InjectionOptions& injection, std::uint64_t seed) {
  const auto model = TinyModel();
  Rng rng(seed);
  const std::size_t devices = 1 + rng.Below(40);
  OneHotFleet fleet(*model, devices, seed);
  Experiment experiment;
  experiment.goal.rounds = 12;
  experiment.goal.seed = seed;
  experiment.fleet.participation = Portion::Share(rng.Below(2) == 0 ? 1.0 : 0.6);
  experiment.train.method = Method::kSyncSgd;
  experiment.train.batch = 1 + static_cast<std::int64_t>(rng.Below(64));
  experiment.train.optimiser.momentum = 0;
  experiment.train.schedule.learning_rate = 1;
  experiment.stream.batch.rule = BatchRule::kStreamRate;
  experiment.injection = injection;
  Quiet quiet;
  Coordinator coordinator(experiment, model, fleet, quiet, {});
  std::vector<float> before(coordinator.parameters().begin(), coordinator.parameters().end());
  const auto after_round = [&](const CoordinatorState& state) {
    if (state.ending) return OkStatus();
    const double all = std::accumulate(fleet.weights.begin(), fleet.weights.end(), 0.0);
    double sum = 0;
    for (std::size_t i = 0; i < devices; ++i) {
      const double counted =
          static_cast<double>(before[i]) - static_cast<double>(coordinator.parameters()[i]);
      EXPECT_NEAR(counted, all > 0 ? fleet.weights[i] / all : 0, 1e-6);
      sum += counted;
    }
    EXPECT_NEAR(sum, all > 0 ? 1 : 0, 1e-5);
    before.assign(coordinator.parameters().begin(), coordinator.parameters().end());
    return OkStatus();
  };
  const auto outcome = coordinator.Run({}, after_round);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_GE(outcome->rounds, 12U);  // Rounds of nobody do not count.
}

TEST(AggregationWeights, AddUpToOneUnderAnyDropOut) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) ExpectWeightsThatAddUp({}, seed);
}

TEST(AggregationWeights, AddUpToOneWithSharedSamplesToo) {
  Rng rng(9);
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    ExpectWeightsThatAddUp({0.05 + 0.95 * rng.Uniform(), 0.05 + 0.95 * rng.Uniform()}, seed);
  }
}

}  // namespace
}  // namespace tributary::inline coordinator
