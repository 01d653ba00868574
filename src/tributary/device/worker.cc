#include "tributary/device/worker.h"

#include <algorithm>
#include <cmath>

#include "tributary/base/check.h"
#include "tributary/device/evaluation.h"
#include "tributary/policy/optimisation/optimiser.h"

namespace tributary {
namespace {

// Leaves a gradient's padding zero, since both weights' padding is.
void AddProximalTerm(double prox, std::span<const float> weights, std::span<const float> origin,
                     std::span<float> gradients) {
  const auto factor = static_cast<float>(prox);
  for (std::size_t i = 0; i < gradients.size(); ++i) gradients[i] += factor * (weights[i] - origin[i]);
}

}  // namespace

Worker::Worker(std::shared_ptr<const Model> model, ExecutorOptions options)
    : model_(std::move(model)),
      options_(options),
      gradients_(model_->parameters.size),
      statistics_(model_->statistics.size) {}

Executor& Worker::OnShared(const SharedWeights& weights) {
  std::copy(weights.statistics.begin(), weights.statistics.end(), statistics_.data());
  if (shared_at_ != weights.parameters.data()) {
    // An executor takes memory it may write, but only reads parameters during a pass.
    const std::span<float> parameters(const_cast<float*>(weights.parameters.data()), weights.parameters.size());
    on_shared_.emplace(model_, NetworkMemory{parameters, statistics_.span(), gradients_.span()}, options_);
    shared_at_ = weights.parameters.data();
  }
  return *on_shared_;
}

Executor& Worker::OnCopy(const SharedWeights& weights) {
  if (!on_copy_) {
    copy_ = FlatBuffer(model_->parameters.size);
    on_copy_.emplace(model_, NetworkMemory{copy_.span(), statistics_.span(), gradients_.span()}, options_);
  }
  std::copy(weights.statistics.begin(), weights.statistics.end(), statistics_.data());
  std::copy(weights.parameters.begin(), weights.parameters.end(), copy_.data());
  return *on_copy_;
}

StatusOr<PassResult> Worker::Pass(Executor& executor, const TrainAssignment& assignment, std::uint64_t step,
                                  DeviceId device, const LocalData& data) {
  ReadBatch(data, assignment.batch, {assignment.seed, device, step}, assignment.augment, batch_);
  Rng dropout = Rng::ForStream(assignment.seed, device, "dropout", step);
  PassOptions options;
  options.label_smoothing = assignment.label_smoothing;
  options.rng = &dropout;
  TRIBUTARY_ASSIGN_OR_RETURN(const PassResult result, executor.Train({batch_.inputs, batch_.labels}, options));
  if (!std::isfinite(result.loss)) {
    return InvalidArgument("the loss of device " + std::to_string(device.value) + " is no longer a number at step " +
                           std::to_string(step) + "; lower the learning rate");
  }
  return result;
}

StatusOr<Worker::Trained> Worker::Train(const TrainAssignment& assignment, const SharedWeights& weights,
                                        DeviceId device, const LocalData& data,
                                        const std::function<bool()>& should_stop) {
  TRIBUTARY_CHECK(weights.parameters.size() == model_->parameters.size &&
                  weights.statistics.size() == model_->statistics.size);
  if (data.training.empty()) return InvalidArgument("device " + std::to_string(device.value) + " has no training samples");
  return assignment.answer == TrainAssignment::Answer::kGradient ? Gradient(assignment, weights, device, data)
                                                                 : Change(assignment, weights, device, data, should_stop);
}

StatusOr<Worker::Trained> Worker::Gradient(const TrainAssignment& assignment, const SharedWeights& weights,
                                           DeviceId device, const LocalData& data) {
  TRIBUTARY_ASSIGN_OR_RETURN(const PassResult pass,
                             Pass(OnShared(weights), assignment, StepsOf(assignment, data).first, device, data));
  const auto samples = static_cast<std::int64_t>(batch_.labels.size());
  return Trained{{gradients_.span(), statistics_.span(), static_cast<double>(samples)},
                 {samples, pass.loss, pass.correct}};
}

StatusOr<Worker::Trained> Worker::Change(const TrainAssignment& assignment, const SharedWeights& weights,
                                         DeviceId device, const LocalData& data,
                                         const std::function<bool()>& should_stop) {
  Executor& executor = OnCopy(weights);
  TRIBUTARY_ASSIGN_OR_RETURN(optimiser_, MakeOptimiser(assignment.optimiser, copy_.size()));
  TrainingMetrics metrics;
  const StepRange steps = StepsOf(assignment, data);
  for (std::uint64_t i = 0; i < steps.count; ++i) {
    if (should_stop && should_stop()) return Cancelled("stopped between two steps");
    TRIBUTARY_ASSIGN_OR_RETURN(const PassResult pass, Pass(executor, assignment, steps.first + i, device, data));
    if (assignment.prox > 0) AddProximalTerm(assignment.prox, copy_.span(), weights.parameters, gradients_.span());
    optimiser_->Step(copy_.span(), gradients_.span(), assignment.learning_rate);
    const auto samples = static_cast<std::int64_t>(batch_.labels.size());
    metrics.samples += samples;
    metrics.loss += pass.loss * static_cast<double>(samples);
    metrics.correct += pass.correct;
  }
  metrics.loss /= static_cast<double>(std::max<std::int64_t>(1, metrics.samples));
  std::span<float> change = copy_.span();
  for (std::size_t i = 0; i < change.size(); ++i) change[i] -= weights.parameters[i];
  return Trained{{change, statistics_.span(), static_cast<double>(metrics.samples)}, metrics};
}

StatusOr<EvaluationTotals> Worker::Evaluate(const EvaluateAssignment&, const SharedWeights& weights,
                                            const LocalData& data) {
  Executor& executor = OnShared(weights);
  TRIBUTARY_ASSIGN_OR_RETURN(const Evaluation result, tributary::Evaluate(executor, *data.dataset, data.held_out));
  return EvaluationTotals{static_cast<std::int64_t>(result.samples), result.loss * static_cast<double>(result.samples),
                          std::llround(result.accuracy * static_cast<double>(result.samples))};
}

StatusOr<Moments> Worker::Calibrate(const CalibrateAssignment& assignment, const SharedWeights& weights,
                                    DeviceId device, const LocalData& data) {
  Moments moments(model_->statistics.size);
  if (data.training.empty()) return moments;
  Executor& executor = OnShared(weights);
  for (int i = 0; i < assignment.steps; ++i) {
    const auto steps = static_cast<std::uint64_t>(assignment.steps);
    const std::uint64_t step = (assignment.round.value - 1) * steps + static_cast<std::uint64_t>(i);
    ReadBatch(data, assignment.batch, {assignment.seed, device, step}, {}, batch_);
    TRIBUTARY_RETURN_IF_ERROR(executor.AddMoments(batch_.inputs, moments.sums, moments.counts));
  }
  return moments;
}

}  // namespace tributary
