#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "tributary/base/rng.h"
#include "tributary/fleet/fleet.h"
#include "tributary/model/model.h"

namespace tributary::inline coordinator {

// A network of some thousand parameters that has running statistics.
inline std::shared_ptr<const Model> TinyModel() {
  GraphBuilder builder("tiny", Shape{1, 4, 4});
  NodeIndex x = builder.Add("conv", Conv{.out_channels = 2, .kernel = {3, 3}, .bias = false}, {0});
  x = builder.Add("norm", BatchNorm{}, {x});
  x = builder.Add("relu", Relu{}, {x});
  x = builder.Add("flatten", Flatten{}, {x});
  x = builder.Add("fc1", Linear{200}, {x});
  builder.Add("fc2", Linear{3}, {x});
  return std::make_shared<const Model>(std::move(builder).Build().value());
}

// Three devices without data or torch: each answers with a function of the weights, its number and the round, as real
// ones do, and a round takes a second of virtual time more than the one before.
class TestingFleet : public Fleet {
 public:
  explicit TestingFleet(const Model& model) : model_(model) {
    for (std::uint64_t i = 0; i < 3; ++i) {
      devices_.emplace_back();
      devices_[i].id = DeviceId{i};
      devices_[i].samples = static_cast<std::int64_t>(10 + i);
    }
  }

  // What it is to answer in the middle of a round's work, or of an evaluation, instead of going on.
  std::function<Status(RoundId)> interrupt_training;
  std::function<Status()> interrupt_evaluation;
  std::function<bool(RoundId)> nobody_answers;
  // Changes an update before it is sent; returns its weight.
  std::function<double(DeviceId, RoundId, std::span<float> parameters, double weight)> spoil;
  // What a device says that its loss was.
  std::function<double(DeviceId, const SharedWeights&)> loss;

  void Claim(DeviceId device, std::int64_t samples) { devices_[device.value].samples = samples; }

  Status Gather() override { return OkStatus(); }
  std::span<const DeviceProfile> devices() const override { return devices_; }
  bool Present(DeviceId) const override { return true; }
  const Clock& clock() const override { return clock_; }
  void RollBack(std::span<const DeviceId> quarantined) override {
    for (const DeviceId device : quarantined) devices_[device.value].samples = 0;
    quarantined_ += quarantined.size();
  }
  std::size_t quarantined() const override { return quarantined_; }

  // Everything happens when the order is closed.
  Status Dispatch(WorkOrder order, UpdateSink* sink) override {
    TRIBUTARY_CHECK(!order_);
    order_ = std::move(order);
    sink_ = sink;
    return OkStatus();
  }
  StatusOr<FleetEvent> Next(std::optional<TimePoint>) override { return FleetEvent{clock_.Now()}; }
  StatusOr<RoundReport> Close() override {
    const WorkOrder order = *std::exchange(order_, std::nullopt);
    if (std::holds_alternative<TrainAssignment>(order.work)) return Train(order, *sink_);
    return std::holds_alternative<EvaluateAssignment>(order.work) ? Evaluate(order) : Calibrate(order);
  }

 private:
  StatusOr<RoundReport> Train(const WorkOrder& request, UpdateSink& sink) {
    RoundReport report{clock_.Now(), clock_.Now() + std::chrono::seconds(request.round.value), {}, {}, {}};
    for (const DeviceId device : request.participants) {
      DeviceReport& answer = report.devices.emplace_back();
      answer.device = device;
      answer.reason = "it was not there";
      if (nobody_answers && nobody_answers(request.round)) continue;
      Rng rng = Rng::ForStream(request.training().seed, device, "test", request.round.value);
      std::vector<float> parameters = Moved(request.weights.parameters, rng);
      const std::vector<float> statistics = Moved(request.weights.statistics, rng);
      auto weight = static_cast<double>(devices_[device.value].samples);
      if (spoil) weight = spoil(device, request.round, parameters, weight);
      TRIBUTARY_RETURN_IF_ERROR(sink.Take(WorkOf(device), Update{parameters, statistics, weight}.pieces()));
      answer.outcome = Outcome::kApplied;
      answer.reason.clear();
      answer.metrics = {devices_[device.value].samples, rng.Uniform(), 1};
      if (loss) answer.metrics.loss = loss(device, request.weights);
      if (interrupt_training) TRIBUTARY_RETURN_IF_ERROR(interrupt_training(request.round));
    }
    clock_.AdvanceTo(report.end);
    return report;
  }

  StatusOr<RoundReport> Evaluate(const WorkOrder& order) {
    const SharedWeights& weights = order.weights;
    if (interrupt_evaluation) TRIBUTARY_RETURN_IF_ERROR(interrupt_evaluation());
    clock_.AdvanceTo(clock_.Now() + std::chrono::milliseconds(7));
    RoundReport report;
    EvaluationTotals& totals = report.totals;
    totals.samples = 1000;
    for (const float weight : weights.parameters) totals.loss += static_cast<double>(weight);
    for (const float weight : weights.statistics) totals.loss += static_cast<double>(weight);
    totals.correct = static_cast<std::int64_t>(totals.loss * totals.loss * 1e6) % 300;
    return report;
  }

  StatusOr<RoundReport> Calibrate(const WorkOrder& order) {
    const SharedWeights& weights = order.weights;
    const auto& assignment = std::get<CalibrateAssignment>(order.work);
    RoundReport report;
    Moments& moments = report.moments = Moments(model_.statistics.size);
    for (std::size_t i = 0; i < moments.sums.size(); ++i) {
      moments.counts[i] = 10;
      moments.sums[i] =
          static_cast<double>(weights.parameters[i]) + static_cast<double>(assignment.round.value + i);
    }
    return report;
  }

  static std::vector<float> Moved(std::span<const float> values, Rng& rng) {
    std::vector<float> moved;
    for (const float value : values) moved.push_back(0.3F * value + static_cast<float>(rng.Uniform()) - 0.5F);
    return moved;
  }

  const Model& model_;
  std::size_t quarantined_ = 0;
  std::vector<DeviceProfile> devices_;
  VirtualClock clock_;
  std::optional<WorkOrder> order_;
  UpdateSink* sink_ = nullptr;
};

}  // namespace tributary::inline coordinator
