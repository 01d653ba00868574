#include "tributary/fleet/remote/local_work.h"

#include <unistd.h>

#include <cstring>
#include <numeric>

#include "tributary/data/load.h"
#include "tributary/device/setting.h"
#include "tributary/engine/compute.h"
#include "tributary/experiment/reader.h"
#include "tributary/fleet/remote/layout_hash.h"
#include "tributary/model/initialise.h"
#include "tributary/telemetry/digest.h"

namespace tributary::remote {
namespace {

double MemoryOfMachine() {
  return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
}

std::vector<double> Seconds(const std::vector<Duration>& durations) {
  std::vector<double> seconds;
  for (const Duration duration : durations) seconds.push_back(ToSeconds(duration));
  return seconds;
}

// The device's own samples, as the coordinator wants them normalised.
StatusOr<Dataset> LoadOwn(const std::filesystem::path& folder, const Welcome& welcome) {
  TRIBUTARY_ASSIGN_OR_RETURN(TrainTest own, LoadData({.name = (folder / "").string()}));
  if (own.train.shape() != welcome.input || own.train.classes() > welcome.classes) {
    return InvalidArgument("the samples in " + folder.string() + " have shape " + FormatShape(own.train.shape()) +
                           " and " + std::to_string(own.train.classes()) + " classes; the experiment needs " +
                           FormatShape(welcome.input) + " and at most " + std::to_string(welcome.classes));
  }
  return std::move(own.train)
      .WithClasses(welcome.classes)
      .WithNormalisation({welcome.mean, welcome.deviation});
}

}  // namespace

LocalWork::LocalWork(LocalWorkOptions options, const Clock& clock) : options_(std::move(options)), clock_(clock) {}
LocalWork::~LocalWork() = default;

std::size_t LocalWork::size(Array array) const {
  return array == Array::kParameters ? parameters_.size() : statistics_.size();
}

std::span<const Segment> LocalWork::units(Array array) const {
  return array == Array::kParameters ? model_->parameters.units : model_->statistics.units;
}

void LocalWork::Place(Array array, std::size_t offset, ByteSpan values) {
  std::memcpy((array == Array::kParameters ? parameters_ : statistics_).data() + offset, values.data(), values.size());
}

Status LocalWork::Build(const Welcome& welcome) {
  welcome_.reset();
  TRIBUTARY_ASSIGN_OR_RETURN(const Experiment experiment,
                             ReadExperimentText(welcome.experiment, {"the coordinator's experiment", std::nullopt}));
  TRIBUTARY_ASSIGN_OR_RETURN(model_, BuildNetwork(experiment.model.name, experiment, welcome.input, welcome.classes));
  const auto devices = static_cast<std::uint64_t>(TotalDevices(experiment.fleet));
  if (options_.data) {
    TRIBUTARY_ASSIGN_OR_RETURN(Dataset own, LoadOwn(*options_.data, welcome));
    dataset_ = std::make_unique<const Dataset>(std::move(own));
    std::vector<std::uint32_t> all(dataset_->size());
    std::iota(all.begin(), all.end(), 0U);
    data_ = HoldOut(experiment, welcome.device, *dataset_, std::move(all));
  } else {
    // A coordinator does not choose which files of this machine are read.
    if (experiment.data.set.find('/') != std::string::npos) {
      return InvalidArgument("the experiment's data lie in a folder of the coordinator's (" + experiment.data.set +
                             "); give this device data of its own with --data");
    }
    if (welcome.device.value >= devices) {
      return InvalidArgument("the experiment divides its data among " + std::to_string(devices) + " devices and this is"
                             " number " + std::to_string(welcome.device.value + 1) +
                             "; give it data of its own with --data");
    }
    TRIBUTARY_ASSIGN_OR_RETURN(TrainTest data, LoadExperimentData(experiment, options_.data_dir));
    if (data.train.shape() != welcome.input || data.train.classes() != welcome.classes) {
      return InvalidArgument("the data set '" + experiment.data.set + "' is another here than at the coordinator");
    }
    TRIBUTARY_ASSIGN_OR_RETURN(std::vector<LocalData> dealt, DealOut(experiment, data.train));
    LocalData& mine = dealt[welcome.device.value];
    // Only its own samples stay in memory, in their order, so that every batch is the simulated device's.
    std::vector<std::uint32_t> kept = mine.training;
    kept.insert(kept.end(), mine.held_out.begin(), mine.held_out.end());
    dataset_ = std::make_unique<const Dataset>(data.train.Select(kept));
    data_.dataset = dataset_.get();
    data_.training.resize(mine.training.size());
    std::iota(data_.training.begin(), data_.training.end(), 0U);
    data_.held_out.resize(mine.held_out.size());
    std::iota(data_.held_out.begin(), data_.held_out.end(), static_cast<std::uint32_t>(mine.training.size()));
  }
  parameters_ = FlatBuffer(model_->parameters.size);
  statistics_ = FlatBuffer(model_->statistics.size);
  SetComputeThreads(options_.threads);
  worker_ = std::make_unique<Worker>(model_);
  compressor_.reset();
  // Of another experiment, nothing that was kept has a meaning.
  Digest experiment_digest;
  experiment_digest.Add(std::as_bytes(std::span(welcome.experiment)));
  state_ = options_.state / experiment_digest.Hex();
  if (experiment.compression.kind != CompressionKind::kDense) {
    compressor_.emplace(experiment.compression, model_, welcome.piece_floats);
  }
  ready_ = Ready{.layout = LayoutHash(*model_),
                 .samples = static_cast<std::int64_t>(data_.training.size()),
                 .held_out = static_cast<std::int64_t>(data_.held_out.size()),
                 .memory_bytes = MemoryOfMachine(),
                 .threads = static_cast<std::uint32_t>(options_.threads)};
  if (!data_.training.empty()) {
    InitialiseWeights(*model_, 1, parameters_.span(), statistics_.span());
    TRIBUTARY_RETURN_IF_ERROR(MeasureCompute(static_cast<std::size_t>(experiment.train.batch), ready_));
  }
  welcome_ = welcome;
  return OkStatus();
}

Status LocalWork::MeasureCompute(std::size_t batch, Ready& ready) {
  constexpr Duration kLongEnough = std::chrono::milliseconds(200);
  constexpr int kMost = 20;
  TrainAssignment assignment;
  assignment.batch = batch;
  double samples = 0;
  TimePoint begun{0};
  for (int i = 0; i <= kMost; ++i) {
    if (i == 1) begun = clock_.Now();  // The first is slower than those that follow.
    TRIBUTARY_ASSIGN_OR_RETURN(const Worker::Trained trained,
                               worker_->Train(assignment, weights(), DeviceId{0}, data_, {.clock = &clock_}));
    if (i == 0) continue;
    samples += trained.update.weight;
    ready.forward_seconds = Seconds(trained.times.layers.forward);
    ready.backward_seconds = Seconds(trained.times.layers.backward);
    if (clock_.Now() - begun > kLongEnough) break;
  }
  const double macs = 3 * static_cast<double>(TotalMacs(model_->costs).value) * samples;
  ready.macs_per_second = macs / std::max(1e-9, ToSeconds(clock_.Now() - begun));
  return OkStatus();
}

StatusOr<Ready> LocalWork::Prepare(const Welcome& welcome) {
  const bool same = welcome_ && welcome_->experiment == welcome.experiment && welcome_->device == welcome.device &&
                    welcome_->input == welcome.input && welcome_->classes == welcome.classes &&
                    welcome_->mean == welcome.mean && welcome_->deviation == welcome.deviation;
  if (!same) TRIBUTARY_RETURN_IF_ERROR(Build(welcome));
  return ready_;
}

Status LocalWork::Encode(const LayerRun& run, const Update& update, EncodedBlocks& out) {
  return compressor_->Encode(run.first, run.last, update, out);
}

void LocalWork::Remember(const Assignment& assignment) {
  const RoundId from = assignment.state_round;
  if (const Status status = compressor_->Load(state_, from); !status.ok()) options_.say(status.message());
  if (!compressor_->Begin(assignment.round, from)) {
    options_.say("what compression had left after round " + std::to_string(from.value) +
                 " is not here any more; going on without it");
  }
}

StatusOr<Answer> LocalWork::Do(const Assignment& assignment, Transfers& transfers) {
  const DeviceId device = welcome_->device;
  if (const auto* train = std::get_if<TrainAssignment>(&assignment.work)) {
    if (compressor_) Remember(assignment);
    TrainHooks hooks;
    hooks.should_stop = [&] { return transfers.over(); };
    hooks.await = [&](std::size_t unit) { return transfers.AwaitUnit(unit); };
    hooks.ready = [&](const Update& update, std::size_t unit) { transfers.UnitReady(update, unit); };
    hooks.clock = &clock_;
    TRIBUTARY_ASSIGN_OR_RETURN(const Worker::Trained trained, worker_->Train(*train, weights(), device, data_, hooks));
    TRIBUTARY_RETURN_IF_ERROR(transfers.Finish());
    if (compressor_) {
      compressor_->End();
      // Before the answer: once that is taken, this round counts.
      TRIBUTARY_RETURN_IF_ERROR(compressor_->Save(state_, assignment.durable_round));
    }
    Answer answer{.samples = trained.metrics.samples, .loss = trained.metrics.loss, .correct = trained.metrics.correct};
    answer.forward_seconds = Seconds(trained.times.layers.forward);
    answer.backward_seconds = Seconds(trained.times.layers.backward);
    answer.between_seconds = ToSeconds(trained.times.between);
    answer.compute_seconds = answer.between_seconds;
    for (const double seconds : answer.forward_seconds) answer.compute_seconds += seconds;
    for (const double seconds : answer.backward_seconds) answer.compute_seconds += seconds;
    return answer;
  }
  TRIBUTARY_RETURN_IF_ERROR(transfers.AwaitAll());
  const TimePoint begun = clock_.Now();
  Answer answer;
  if (const auto* evaluate = std::get_if<EvaluateAssignment>(&assignment.work)) {
    TRIBUTARY_ASSIGN_OR_RETURN(const EvaluationTotals totals, worker_->Evaluate(*evaluate, weights(), data_));
    answer.samples = totals.samples;
    answer.loss = totals.loss;
    answer.correct = totals.correct;
    answer.compute_seconds = ToSeconds(clock_.Now() - begun);
  } else {
    const auto& calibrate = std::get<CalibrateAssignment>(assignment.work);
    TRIBUTARY_ASSIGN_OR_RETURN(const Moments moments, worker_->Calibrate(calibrate, weights(), device, data_));
    answer.compute_seconds = ToSeconds(clock_.Now() - begun);
    TRIBUTARY_RETURN_IF_ERROR(transfers.Push(Array::kMomentSums, std::as_bytes(std::span(moments.sums)), 0));
    TRIBUTARY_RETURN_IF_ERROR(transfers.Push(Array::kMomentCounts, std::as_bytes(std::span(moments.counts)), 0));
  }
  return answer;
}

}  // namespace tributary::remote
