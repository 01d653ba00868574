#include "tributary/explore/trials.h"

#include <algorithm>
#include <cmath>

#include "tributary/data/batches.h"
#include "tributary/device/evaluation.h"
#include "tributary/engine/compute.h"
#include "tributary/fleet/calibration.h"

namespace tributary {
namespace {

constexpr std::uint64_t kFirstTrialStream = 1000;  // before it those of the snapshots
constexpr std::size_t kCalibrationBatch = 128;

std::uint64_t StreamOfTrial(const Trial& trial) {
  return kFirstTrialStream + trial.repeat * kSnapshots + trial.snapshot;
}

// `count` with this one; the first replaces what was there.
void AddToMean(std::span<const float> values, std::size_t count, std::span<float> mean) {
  const float share = 1.0F / static_cast<float>(count);
  for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += share * (values[i] - mean[i]);
}

// Steps on sub-networks leave statistics of sub-networks, or none.
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

TrialRunner::TrialRunner(const ExploreOptions& options, std::shared_ptr<const Model> model,
                         const ExplorationData& data, const std::vector<Snapshot>& snapshots)
    : options_(options),
      model_(std::move(model)),
      data_(data),
      snapshots_(snapshots),
      workers_(options.threads),
      pool_(options.threads, [](std::size_t) { SetComputeThreads(1); }) {}

Status TrialRunner::Run(std::span<const Trial> trials, const Watch& watch) {
  std::mutex one_at_a_time;
  return pool_.Run(trials.size(), [&](std::size_t worker, std::size_t job) -> Status {
    if (!workers_[worker]) {
      workers_[worker].reset(new Worker{ThinTraining(model_, options_), Snapshot(*model_)});
    }
    TRIBUTARY_ASSIGN_OR_RETURN(const double loss, RunOne(*workers_[worker], trials[job], watch.should_stop));
    const std::lock_guard lock(one_at_a_time);
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
    if (step >= batches.size() / 2) {
      AddToMean(training.weights().parameters.span(), step + 1 - batches.size() / 2, mean.parameters.span());
    }
  }
  Executor executor(model_, {mean.parameters.span(), mean.statistics.span(), {}});
  TRIBUTARY_RETURN_IF_ERROR(Calibrate(executor, data_, mean.statistics.span()));
  TRIBUTARY_ASSIGN_OR_RETURN(const Evaluation evaluation,
                             Evaluate(executor, *data_.dataset, data_.evaluation));
  return std::isfinite(evaluation.loss) ? std::min(evaluation.loss, kWorstLoss) : kWorstLoss;
}

}  // namespace tributary
