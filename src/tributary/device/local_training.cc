#include "tributary/device/local_training.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <future>

#include "tributary/base/flat_buffer.h"
#include "tributary/base/rng.h"

namespace tributary::inline device {
namespace {

constexpr DeviceId kThisMachine{0};

Status Diverged(std::uint64_t step) {
  return InvalidArgument("the loss is not finite at step " + std::to_string(step) +
                         "; use a lower learning rate (--lr) or a warm-up (--warmup)");
}

}  // namespace

StatusOr<LocalTrainingResult> TrainLocally(const LocalTrainingOptions& options,
                                           std::shared_ptr<const Model> model, const TrainTest& data,
                                           std::span<float> parameters, std::span<float> statistics,
                                           const Clock& clock, const LocalTrainingObserver& observer) {
  if (options.epochs < 1) return InvalidArgument("training needs at least one epoch");
  if (options.batch < 1) return InvalidArgument("a batch has at least one sample");
  if (!(options.label_smoothing >= 0 && options.label_smoothing < 1)) {
    return InvalidArgument("label smoothing lies in [0, 1)");
  }
  TRIBUTARY_ASSIGN_OR_RETURN(const auto optimiser, MakeOptimiser(options.optimiser, parameters.size()));
  TRIBUTARY_ASSIGN_OR_RETURN(const Schedule schedule, Schedule::Make(options.schedule));

  FlatBuffer gradients(parameters.size());
  Executor executor(model, {parameters, statistics, gradients.span()}, options.executor);
  const std::size_t samples = data.train.size();
  const std::uint64_t steps_per_epoch = (samples + options.batch - 1) / options.batch;
  const std::uint64_t total_steps = steps_per_epoch * static_cast<std::uint64_t>(options.epochs);

  // On another device weights stay there until the end.
  if (executor.elsewhere()) TRIBUTARY_RETURN_IF_ERROR(executor.Hold(options.optimiser));

  LocalTrainingResult result;
  std::uint64_t samples_seen = 0;
  std::array<Batch, 2> batches;
  for (int epoch = 0; epoch < options.epochs; ++epoch) {
    const std::vector<std::uint32_t> order =
        EpochOrder(samples, options.seed, kThisMachine, static_cast<std::uint64_t>(epoch));
    EpochSummary summary{.epoch = epoch + 1};
    const TimePoint start = clock.Now();
    const auto indices_at = [&](std::size_t at) {
      return std::span(order).subspan(at, std::min(options.batch, samples - at));
    };
    const auto gather = [&](std::size_t at, std::uint64_t step) {
      GatherBatch(data.train, indices_at(at), options.augment, {options.seed, kThisMachine, step},
                  batches[step % 2]);
    };
    std::future<void> next;  // The next batch is read while another device computes.
    for (std::size_t at = 0; at < samples; at += options.batch) {
      if (observer.should_stop && observer.should_stop()) {
        result.interrupted = true;
        if (executor.elsewhere()) TRIBUTARY_RETURN_IF_ERROR(executor.Release());
        return result;
      }
      const auto indices = indices_at(at);
      if (next.valid()) {
        next.get();
      } else {
        gather(at, result.steps);
      }
      const Batch& batch = batches[result.steps % 2];
      if (executor.elsewhere() && at + options.batch < samples) {
        next = std::async(std::launch::async, gather, at + options.batch, result.steps + 1);
      }
      Rng dropout = Rng::ForStream(options.seed, kThisMachine, "dropout", result.steps);
      PassOptions pass;
      pass.label_smoothing = options.label_smoothing;
      pass.rng = &dropout;
      TRIBUTARY_ASSIGN_OR_RETURN(const PassResult step, executor.Train({batch.inputs, batch.labels}, pass));
      if (!std::isfinite(step.loss)) return Diverged(result.steps);
      summary.learning_rate = schedule.LearningRate(result.steps, total_steps);
      if (executor.elsewhere()) {
        TRIBUTARY_RETURN_IF_ERROR(executor.StepResident(summary.learning_rate));
      } else {
        optimiser->Step(parameters, gradients.span(), summary.learning_rate);
      }
      ++result.steps;

      const auto count = static_cast<double>(indices.size());
      summary.train_loss += step.loss * count / static_cast<double>(samples);
      summary.train_accuracy += static_cast<double>(step.correct) / static_cast<double>(samples);
      samples_seen += indices.size();
      if (observer.on_step) observer.on_step(samples_seen, epoch + 1, step.loss);
    }
    summary.samples_per_second =
        static_cast<double>(samples) / std::max(1e-9, ToSeconds(clock.Now() - start));
    TRIBUTARY_ASSIGN_OR_RETURN(summary.test, Evaluate(executor, data.test));
    result.epochs.push_back(summary);
    if (observer.on_epoch) observer.on_epoch(summary);
  }
  if (executor.elsewhere()) TRIBUTARY_RETURN_IF_ERROR(executor.Release());
  return result;
}

}  // namespace tributary::inline device
