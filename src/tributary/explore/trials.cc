#include "tributary/explore/trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tributary/base/mutex.h"
#include "tributary/data/batches.h"
#include "tributary/device/evaluation.h"
#include "tributary/engine/compute.h"
#include "tributary/fleet/report.h"
#include "tributary/model/channel_groups.h"
#include "tributary/model/initialise.h"

namespace tributary::inline explore {
namespace {

constexpr std::size_t kCalibrationSamples = 256;
constexpr DeviceId kDivision{~std::uint64_t{0}};

// Fractions of the training: learning is fastest at first.
constexpr double kMoments[kSnapshots] = {1.0 / 12, 1.0 / 3, 1};
// Some steps train nearly the whole network, and none so little that it learns nothing.
constexpr double kHighestLevel = 0.5;

constexpr std::uint64_t kFirstTrialStream = 1000;  // lower streams are for snapshots
constexpr std::size_t kCalibrationBatch = 128;

// Upper bound of losses, also for losses that are not finite.
constexpr double kWorstLoss = 1000;

std::uint64_t StreamOfTrial(const Trial& trial) {
  return kFirstTrialStream + trial.repeat * kSnapshots + trial.snapshot;
}

// Steps from the previous snapshot (or the start) to this one.
std::size_t StepsToSnapshot(const ExploreOptions& options, std::size_t snapshot) {
  const auto at = [&](std::size_t which) {
    const double share = kMoments[which] * static_cast<double>(options.snapshot_steps);
    return std::max(which + 1, static_cast<std::size_t>(std::llround(share)));
  };
  return snapshot == 0 ? at(0) : at(snapshot) - at(snapshot - 1);
}

// Updates a running mean; `count` includes this value, so the first replaces the old mean.
void AddToMean(std::span<const float> values, std::size_t count, std::span<float> mean) {
  const float share = 1.0F / static_cast<float>(count);
  for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += share * (values[i] - mean[i]);
}

// Training on sub-networks leaves no valid statistics of the whole network.
Status Calibrate(Executor& executor, const ExplorationData& data, std::span<float> statistics) {
  if (statistics.empty()) return OkStatus();
  Moments moments(statistics.size());
  Batch batch;
  const std::span all(data.calibration);
  for (std::size_t at = 0; at < all.size(); at += kCalibrationBatch) {
    GatherBatch(*data.dataset, all.subspan(at, std::min(kCalibrationBatch, all.size() - at)), {}, {}, batch);
    TRIBUTARY_RETURN_IF_ERROR(executor.AddMoments(batch.inputs, moments.sums, moments.counts));
  }
  EstimateStatistics(executor.model(), moments, statistics);
  return OkStatus();
}

}  // namespace

StatusOr<ExplorationData> ExplorationData::Divide(const Dataset& dataset, std::size_t samples,
                                                  std::size_t batch, std::uint64_t seed) {
  const std::size_t all = dataset.size();
  const std::size_t judged = std::min(samples, all / 4);
  const std::size_t calibrated = std::min(kCalibrationSamples, all / 4);
  if (judged == 0 || all - judged - calibrated < batch) {
    return InvalidArgument(fmt::format(
        "the data set {} has {} training samples; exploring with mini-batches of {} needs at least {}",
        dataset.name(), all, batch, 2 * batch + 4));
  }
  const std::vector<std::uint32_t> order = EpochOrder(all, seed, kDivision, 0);
  const auto at = [&](std::size_t position) { return order.begin() + static_cast<std::ptrdiff_t>(position); };
  return ExplorationData{.dataset = &dataset,
                         .evaluation = {order.begin(), at(judged)},
                         .calibration = {at(judged), at(judged + calibrated)},
                         .training = {at(judged + calibrated), order.end()}};
}

std::vector<std::vector<std::uint32_t>> ExplorationData::DrawBatches(std::size_t count, std::size_t batch,
                                                                     std::uint64_t seed,
                                                                     std::uint64_t stream) const {
  std::vector<std::vector<std::uint32_t>> batches;
  for (std::uint64_t epoch = 0; batches.size() < count; ++epoch) {
    const std::vector<std::uint32_t> order = EpochOrder(training.size(), seed, DeviceId{stream}, epoch);
    for (std::size_t at = 0; at + batch <= order.size() && batches.size() < count; at += batch) {
      std::vector<std::uint32_t>& one = batches.emplace_back();
      for (std::size_t i = at; i < at + batch; ++i) one.push_back(training[order[i]]);
    }
  }
  return batches;
}

StatusOr<Snapshot> NextSnapshot(const ExploreOptions& options, const std::shared_ptr<const Model>& model,
                                const ExplorationData& data, const std::vector<Snapshot>& done,
                                const std::function<bool(std::size_t steps)>& should_stop) {
  SubnetworkTraining training(model, options);
  if (done.empty()) {
    Snapshot start(*model);
    InitialiseWeights(*model, options.seed, start.parameters.span(), start.statistics.span());
    training.Begin(start);
  } else {
    training.Begin(done.back());
  }
  const std::uint64_t stream = done.size();
  const auto batches =
      data.DrawBatches(StepsToSnapshot(options, done.size()), options.batch, options.seed, stream);
  Batch batch;
  for (std::size_t step = 0; step < batches.size(); ++step) {
    if (should_stop && should_stop(step)) return Cancelled("the training of the snapshots was interrupted");
    GatherBatch(*data.dataset, batches[step], {}, {}, batch);
    Rng chance = Rng::ForStream(options.seed, DeviceId{stream}, "snapshot", step);
    training.Keep(
        KeptCounts(model->channels, RatesAroundALevel(model->channels.groups.size(), kHighestLevel, chance)));
    TRIBUTARY_ASSIGN_OR_RETURN(const double loss, training.Step({batch.inputs, batch.labels}, chance));
    if (!std::isfinite(loss)) {
      return InvalidArgument(
          fmt::format("the loss is not finite at step {} to snapshot {}; lower the learning rate (--lr)",
                      step + 1, stream + 1));
    }
  }
  return std::move(training.weights());
}

TrialRunner::TrialRunner(const ExploreOptions& options, std::shared_ptr<const Model> model,
                         const ExplorationData& data, const std::vector<Snapshot>& snapshots)
    : options_(options),
      model_(std::move(model)),
      data_(data),
      snapshots_(snapshots),
      workers_(options.threads),
      pool_(options.threads, [](std::size_t) { SetComputeThreads(1); }) {}

Status TrialRunner::Run(std::span<const Trial> trials, const Watch& watch) {
  Mutex one_at_a_time;
  return pool_.Run(trials.size(), [&](std::size_t worker, std::size_t job) -> Status {
    if (!workers_[worker])
      workers_[worker].reset(new Worker{SubnetworkTraining(model_, options_), Snapshot(*model_)});
    TRIBUTARY_ASSIGN_OR_RETURN(const double loss, RunOne(*workers_[worker], trials[job], watch.should_stop));
    const MutexLock lock(one_at_a_time);
    if (watch.on_done) watch.on_done(job, loss);
    return OkStatus();
  });
}

StatusOr<double> TrialRunner::RunOne(Worker& worker, const Trial& trial,
                                     const std::function<bool()>& should_stop) const {
  auto& [training, mean] = worker;
  training.Begin(snapshots_[trial.snapshot]);
  training.Keep(trial.kept);
  std::ranges::copy(training.weights().parameters.span(), mean.parameters.data());
  const std::uint64_t stream = StreamOfTrial(trial);
  const auto batches = data_.DrawBatches(trial.steps, options_.batch, options_.seed, stream);
  Batch batch;
  for (std::size_t step = 0; step < batches.size(); ++step) {
    if (should_stop && should_stop()) return Cancelled("the exploration was interrupted");
    GatherBatch(*data_.dataset, batches[step], {}, {}, batch);
    Rng chance = Rng::ForStream(options_.seed, DeviceId{stream}, "channels", step);
    TRIBUTARY_ASSIGN_OR_RETURN(const double loss, training.Step({batch.inputs, batch.labels}, chance));
    if (!std::isfinite(loss)) return kWorstLoss;
    if (step >= batches.size() / 2)
      AddToMean(training.weights().parameters.span(), step + 1 - batches.size() / 2, mean.parameters.span());
  }
  Executor executor(model_, {mean.parameters.span(), mean.statistics.span(), {}});
  TRIBUTARY_RETURN_IF_ERROR(Calibrate(executor, data_, mean.statistics.span()));
  TRIBUTARY_ASSIGN_OR_RETURN(const Evaluation evaluation,
                             Evaluate(executor, *data_.dataset, data_.evaluation));
  return std::isfinite(evaluation.loss) ? std::min(evaluation.loss, kWorstLoss) : kWorstLoss;
}

}  // namespace tributary::inline explore
