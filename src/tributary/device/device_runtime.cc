#include "tributary/device/device_runtime.h"

#include <algorithm>
#include <cstring>

#include "tributary/device/compute_speed.h"
#include "tributary/device/setting.h"
#include "tributary/engine/compute.h"
#include "tributary/experiment/reader.h"
#include "tributary/fleet/layout_hash.h"
#include "tributary/model/initialise.h"
#include "tributary/telemetry/digest.h"

namespace tributary::inline device {
namespace {

static_assert(kMostMeetingWeight <= ModelMix::kMostWeight);

std::vector<double> Seconds(const std::vector<Duration>& durations) {
  std::vector<double> seconds;
  for (const Duration duration : durations) seconds.push_back(ToSeconds(duration));
  return seconds;
}

}  // namespace

DeviceRuntime::DeviceRuntime(DeviceRuntimeOptions options, const Clock& clock)
    : options_(std::move(options)), clock_(clock) {}
DeviceRuntime::~DeviceRuntime() = default;

std::size_t DeviceRuntime::size(Array array) const {
  return array == Array::kParameters ? parameters_.size() : statistics_.size();
}

std::span<const Segment> DeviceRuntime::units(Array array) const {
  return (array == Array::kParameters ? training_.model->parameters : training_.model->statistics).units;
}

void DeviceRuntime::Place(Array array, std::size_t offset, ByteSpan values) {
  std::memcpy((array == Array::kParameters ? parameters_ : statistics_).data() + offset, values.data(),
              values.size());
}

Status DeviceRuntime::Build(const Welcome& welcome) {
  welcome_.reset();
  offers_.Withdraw();  // The offered model is about to be freed.
  samples_ = {};
  choice_.reset();
  TRIBUTARY_ASSIGN_OR_RETURN(
      const Experiment experiment,
      ReadExperimentText(welcome.experiment, {"the coordinator's experiment", std::nullopt}, {},
                         options_.extensions));
  // Weights come from the coordinator, except those of frozen layers.
  const bool reads = !experiment.model.freeze.empty() && !experiment.model.weights.empty();
  if (reads && options_.weights.empty()) {
    return InvalidArgument("the experiment freezes layers at the weights of '" +
                           std::filesystem::path(experiment.model.weights).filename().string() +
                           "', which are not sent; give this device's copy of the file with --weights");
  }
  // Before its memory is taken. Of a network that is cut, all of the weights are made here, but the device computes less.
  TRIBUTARY_ASSIGN_OR_RETURN(const auto described,
                             BuildNetwork(experiment.model.name, experiment, welcome.input, welcome.classes));
  const bool is_cut = experiment.train.method == Method::kSplit;
  TRIBUTARY_RETURN_IF_ERROR(options_.limits.CheckNetwork(
      *described, is_cut ? 1 : static_cast<std::size_t>(experiment.train.batch)));
  TRIBUTARY_ASSIGN_OR_RETURN(ExperimentNetwork network,
                             BuildExperimentNetwork(experiment, welcome.input, welcome.classes,
                                                    reads ? options_.weights : std::string()));
  training_ = std::move(network.device);
  TRIBUTARY_RETURN_IF_ERROR(CheckConsent(welcome, experiment));
  // State is kept per experiment.
  Digest experiment_digest;
  experiment_digest.Add(std::as_bytes(std::span(welcome.experiment)));
  state_ = options_.state / experiment_digest.Hex();
  TRIBUTARY_ASSIGN_OR_RETURN(samples_, LocalSamples::Open(options_, welcome, experiment, state_, clock_));
  const std::shared_ptr<const Model>& model = training_.model;
  parameters_ = FlatBuffer(model->parameters.size);
  statistics_ = FlatBuffer(model->statistics.size);
  SetComputeThreads(options_.threads);
  worker_ = std::make_unique<Worker>(model, ExecutorOptions{.device = options_.device});
  compressor_.reset();
  if (experiment.compression.kind != CodecNamed("dense")) {
    compressor_.emplace(experiment.compression, model, welcome.piece_floats);
  }
  gossip_.reset();
  mix_.reset();
  if (experiment.train.method == Method::kGossip) {
    gossip_ = std::make_unique<GossipModel>(model, experiment.train.optimiser);
    mix_ = std::make_unique<ModelMix>(*model);
  }
  ready_ = Ready{.layout = LayoutHash(*model),
                 .samples = static_cast<std::int64_t>(samples_.data().training.size()),
                 .held_out = static_cast<std::int64_t>(samples_.data().held_out.size()),
                 .memory_bytes = static_cast<double>(MemoryToHave().value),
                 .threads = static_cast<std::uint32_t>(options_.threads),
                 .streams = samples_.streams()};
  if (training_.cut && UsesLabels(experiment.sampling) && samples_.data().dataset != nullptr) {
    TRIBUTARY_RETURN_IF_ERROR(options_.consent.Check(kLabelCountsLeave));
    ready_.label_counts = ClassCounts(samples_.data());
  }
  TRIBUTARY_RETURN_IF_ERROR(Measure(experiment));
  welcome_ = welcome;
  return OkStatus();
}

Status DeviceRuntime::CheckConsent(const Welcome& welcome, const Experiment& experiment) const {
  const auto wire = training_.cut ? std::optional(training_.cut->wire) : std::nullopt;
  for (const std::string& need : DisclosuresOf(experiment, wire))
    TRIBUTARY_RETURN_IF_ERROR(options_.consent.Check(need));
  for (const std::string& need : welcome.needs) TRIBUTARY_RETURN_IF_ERROR(options_.consent.Check(need));
  return OkStatus();
}

Status DeviceRuntime::Measure(const Experiment& experiment) {
  const auto batch = static_cast<std::size_t>(experiment.train.batch);
  TRIBUTARY_ASSIGN_OR_RETURN(const std::optional<RoundSamples> blank, samples_.BlankBatch(batch));
  if (!blank && samples_.data().training.empty()) return OkStatus();
  InitialiseWeights(*training_.model, 1, parameters_.span(), statistics_.span());
  TRIBUTARY_ASSIGN_OR_RETURN(const ComputeSpeed speed,
                             MeasureCompute(*worker_, training_, weights(), samples_.data(),
                                            blank ? &*blank : nullptr, batch, clock_));
  ready_.macs_per_second = speed.macs_per_second;
  ready_.forward_seconds = Seconds(speed.layers.forward);
  ready_.backward_seconds = Seconds(speed.layers.backward);
  if (!training_.sub_networks) return OkStatus();
  const std::shared_ptr<const DropoutMenu>& menu = training_.sub_networks->menu;
  const CostModel known = experiment.dropout.front ? experiment.dropout.front->cost_model : CostModel();
  choice_ = std::make_unique<LiveChoice>(
      LiveChoice::Options{.menu = menu,
                          .known = LiveChoice::CostHere(*menu, known, batch, speed),
                          .processors = speed.processors,
                          .availability = options_.availability},
      clock_);
  return OkStatus();
}

StatusOr<Ready> DeviceRuntime::Prepare(const Welcome& welcome) {
  const bool same = welcome_ && welcome_->experiment == welcome.experiment &&
                    welcome_->device == welcome.device && welcome_->input == welcome.input &&
                    welcome_->classes == welcome.classes && welcome_->mean == welcome.mean &&
                    welcome_->deviation == welcome.deviation;
  if (!same) TRIBUTARY_RETURN_IF_ERROR(Build(welcome));
  TRIBUTARY_RETURN_IF_ERROR(samples_.Seek(welcome.stream_from, welcome.stream_kept));
  if (gossip_) ready_.models = GossipModel::Saved(state_);
  return ready_;
}

Status DeviceRuntime::Encode(const LayerRun& run, const Update& update, EncodedBlocks& out) {
  return compressor_->Encode(run.first, run.last, update, out);
}

void DeviceRuntime::Remember(const Assignment& assignment) {
  const RoundId from = assignment.state_round;
  if (const Status status = compressor_->Load(state_, from); !status.ok()) options_.say(status.message());
  if (!compressor_->Begin(assignment.round, from)) {
    options_.say("what compression had left after round " + std::to_string(from.value) +
                 " is missing; continuing without it");
  }
}

void DeviceRuntime::BeginChoice(const TrainAssignment& train, const Assignment& assignment, TimePoint begun) {
  std::optional<TimePoint> until;
  if (assignment.time_left_seconds > 0)
    until = begun + FromSeconds(std::min(assignment.time_left_seconds, 1e8));
  choice_->Begin({train.seed, welcome_->device, train.round},
                 StepSizes(train, samples_.data(), samples_.streams(), assignment.received), until);
}

Status DeviceRuntime::RecallOwn(const Assignment& assignment) {
  const RoundId from = assignment.state_round;
  if (const Status status = gossip_->Load(state_, from); !status.ok()) options_.say(status.message());
  if (gossip_->Has(from)) return OkStatus();
  return NotFound("the device's own model after round " + std::to_string(from.value) +
                  " is not here any more");
}

Status DeviceRuntime::BeginOwn(const Assignment& assignment, Transfers& transfers) {
  const Status recalled = RecallOwn(assignment);
  if (assignment.without_weights) {
    TRIBUTARY_RETURN_IF_ERROR(recalled);
  } else {
    TRIBUTARY_RETURN_IF_ERROR(transfers.AwaitAll());
    if (!recalled.ok() && assignment.state_round.value > 0) {
      options_.say(recalled.message() + "; continuing from the coordinator's");
    }
  }
  (void)gossip_->Begin(assignment.round, assignment.state_round, weights());
  return OkStatus();
}

Status DeviceRuntime::Meet(const Assignment& assignment, Transfers& transfers, Answer& answer) {
  const TimePoint begun = clock_.Now();
  double most = 0;
  for (const MeetingPeer& peer : assignment.meeting->peers) most += peer.weight;
  const auto meet = [&](const GossipModel::TakeModel& take) -> Status {
    TRIBUTARY_ASSIGN_OR_RETURN(answer.met, transfers.Meet(take));
    answer.meet_seconds = ToSeconds(clock_.Now() - begun);
    return OkStatus();
  };
  TRIBUTARY_RETURN_IF_ERROR(gossip_->Average(*mix_, most, meet));
  // Saved before the answer: once the answer is taken, the round counts.
  return gossip_->Save(state_, assignment.durable_round);
}

Status DeviceRuntime::PushOwn(const Assignment& assignment, Transfers& transfers) {
  if (!gossip_) return InvalidArgument("the devices of this experiment do not have their own models");
  TRIBUTARY_RETURN_IF_ERROR(RecallOwn(assignment));
  const SharedWeights own = gossip_->After(assignment.state_round);
  TRIBUTARY_RETURN_IF_ERROR(transfers.Push(Array::kParameters, std::as_bytes(own.parameters), 1));
  return transfers.Push(Array::kStatistics, std::as_bytes(own.statistics), 1);
}

Status DeviceRuntime::CheckAssignment(const TrainAssignment& train) const {
  if (!training_.cut) return OkStatus();
  if (train.answer == TrainAssignment::Answer::kGradient && !train.first) {
    return InvalidArgument("an assignment for split learning does not name its samples");
  }
  if (train.epochs > 0 || train.steps > kMostSplitSteps) {
    return InvalidArgument("an assignment of more than " + std::to_string(kMostSplitSteps) +
                           " steps over a cut");
  }
  if (samples_.streams() && !train.first) {
    return InvalidArgument(
        "split learning must know the number of samples of a step, and this device's samples come in"
        " a stream; start it without --stream");
  }
  return OkStatus();
}

StatusOr<EncodedSplitReply> DeviceRuntime::Cross(int crossing, std::size_t samples, ByteSpan up,
                                                 Transfers& transfers) const {
  const SplitWire& wire = training_.cut->wire;
  TRIBUTARY_RETURN_IF_ERROR(options_.consent.Check(kActivationsLeave));
  if (wire.raw_samples) TRIBUTARY_RETURN_IF_ERROR(options_.consent.Check(kSamplesLeave));
  if (wire.labels_travel()) TRIBUTARY_RETURN_IF_ERROR(options_.consent.Check(kLabelsLeave));
  TRIBUTARY_ASSIGN_OR_RETURN(auto down, transfers.Cross(crossing, up, wire.Down(crossing).BytesOf(samples)));
  return EncodedSplitReply{.values = std::move(down)};
}

StatusOr<Answer> DeviceRuntime::Train(const TrainAssignment& train, const Assignment& assignment,
                                      Transfers& transfers) {
  const TimePoint begun = clock_.Now();
  const bool meeting = train.answer == TrainAssignment::Answer::kGossip;
  if (meeting != meets())
    return InvalidArgument("the assignment's training method differs from the experiment's");
  // Weights arrive in the meantime.
  TRIBUTARY_ASSIGN_OR_RETURN(LocalSamples::Taken taken, samples_.Take(train, assignment, transfers));
  TRIBUTARY_RETURN_IF_ERROR(CheckAssignment(train));
  DeviceRound round{.training = training_,
                    .assignment = train,
                    .device = welcome_->device,
                    .data = samples_.data(),
                    .samples = taken.samples ? &*taken.samples : nullptr,
                    .own = gossip_.get()};
  const auto in_time = [&] { return options_.limits.CheckTime(clock_.Now() - begun); };
  round.hooks.should_stop = [&] { return transfers.over() || !in_time().ok(); };
  round.hooks.clock = &clock_;
  if (!meeting) {
    round.hooks.await = [&](std::size_t unit) { return transfers.AwaitUnit(unit); };
    round.hooks.ready = [&](const Update& update, std::size_t unit) { transfers.UnitReady(update, unit); };
  }
  Duration crossing{0};
  if (training_.cut) {
    round.cut = [&](int number, std::size_t samples, ByteSpan up) -> StatusOr<EncodedSplitReply> {
      const TimePoint left = clock_.Now();
      auto back = Cross(number, samples, up, transfers);
      crossing += clock_.Now() - left;
      return back;
    };
  }
  if (compressor_) Remember(assignment);
  if (choice_) {
    BeginChoice(train, assignment, begun);
    round.hooks.keep = [this](std::uint64_t) { return choice_->Next(); };
  }
  if (meeting) TRIBUTARY_RETURN_IF_ERROR(BeginOwn(assignment, transfers));
  StatusOr<Worker::Trained> made = round.Train(*worker_, weights());
  if (made.status().code() == StatusCode::kCancelled && !transfers.over())
    TRIBUTARY_RETURN_IF_ERROR(in_time());
  TRIBUTARY_ASSIGN_OR_RETURN(const Worker::Trained trained, std::move(made));
  if (meeting) TRIBUTARY_RETURN_IF_ERROR(transfers.Offer(gossip_->offered()));
  const TimePoint trained_at = clock_.Now();
  if (choice_) choice_->End(trained.times.Total());
  TRIBUTARY_RETURN_IF_ERROR(transfers.Finish());
  TRIBUTARY_RETURN_IF_ERROR(transfers.PushSamples(taken.shared, record_bytes()));
  if (compressor_) {
    compressor_->End();
    // Saved before the answer: once the answer is taken, the round counts.
    TRIBUTARY_RETURN_IF_ERROR(compressor_->Save(state_, assignment.durable_round));
  }
  Answer answer{.samples = trained.metrics.samples,
                .loss = trained.metrics.loss,
                .correct = trained.metrics.correct,
                .compute_seconds = ToSeconds(trained.times.Total()),
                .forward_seconds = Seconds(trained.times.layers.forward),
                .backward_seconds = Seconds(trained.times.layers.backward),
                .between_seconds = ToSeconds(trained.times.between),
                .stream = taken.stream,
                .cross_seconds = ToSeconds(crossing)};
  if (meeting) TRIBUTARY_RETURN_IF_ERROR(Meet(assignment, transfers, answer));
  if (choice_) {
    choice_->Sent(clock_.Now() - trained_at);
    answer.kept = KeptOf(choice_->choice());
  }
  samples_.Used(std::move(taken));
  return answer;
}

Bytes DeviceRuntime::TransferredBy(const Assignment& assignment) const {
  const auto model = static_cast<double>((parameters_.size() + statistics_.size()) * sizeof(float));
  double bytes = assignment.without_weights ? 0 : model;
  bytes += static_cast<double>(assignment.received + assignment.share) * static_cast<double>(record_bytes());
  if (std::holds_alternative<CalibrateAssignment>(assignment.work))
    bytes += 2.0 * static_cast<double>(statistics_.size() * sizeof(double));
  if (assignment.meeting) {
    bytes += 2 * model * static_cast<double>(assignment.meeting->peers.size());
  } else if (!std::holds_alternative<CalibrateAssignment>(assignment.work) &&
             !std::holds_alternative<EvaluateAssignment>(assignment.work)) {
    bytes += model;
  }
  const auto* const train = std::get_if<TrainAssignment>(&assignment.work);
  if (train != nullptr && training_.cut) {
    const SplitWire& wire = training_.cut->wire;
    const auto samples = static_cast<std::int64_t>(samples_.data().training.size());
    for (int i = 0; i < wire.crossings() * std::min(train->steps, kMostSplitSteps); ++i) {
      const std::size_t batch = SamplesAt(*train, samples, static_cast<std::uint64_t>(wire.StepOf(i)));
      bytes += static_cast<double>(wire.BytesUp(i, batch) + wire.Down(i).BytesOf(batch));
    }
  }
  return {static_cast<std::int64_t>(std::min(bytes, 9e18))};
}

StatusOr<Answer> DeviceRuntime::Do(const Assignment& assignment, Transfers& transfers) {
  const DeviceId device = welcome_->device;
  TRIBUTARY_RETURN_IF_ERROR(options_.limits.CheckWork(
      assignment.work, *training_.model, static_cast<std::int64_t>(samples_.data().training.size()),
      samples_.streams()));
  TRIBUTARY_RETURN_IF_ERROR(options_.limits.CheckBytes(TransferredBy(assignment)));
  if (const auto* train = std::get_if<TrainAssignment>(&assignment.work))
    return Train(*train, assignment, transfers);
  if (std::holds_alternative<CollectAssignment>(assignment.work)) {
    TRIBUTARY_RETURN_IF_ERROR(PushOwn(assignment, transfers));
    return Answer{};
  }
  TRIBUTARY_RETURN_IF_ERROR(transfers.AwaitAll());
  const TimePoint begun = clock_.Now();
  Answer answer;
  if (const auto* evaluate = std::get_if<EvaluateAssignment>(&assignment.work)) {
    if (samples_.data().held_out.empty()) return answer;
    TRIBUTARY_ASSIGN_OR_RETURN(const EvaluationTotals totals,
                               worker_->Evaluate(*evaluate, weights(), samples_.data()));
    answer.samples = totals.samples;
    answer.loss = totals.loss;
    answer.correct = totals.correct;
    answer.compute_seconds = ToSeconds(clock_.Now() - begun);
  } else {
    const auto& calibrate = std::get<CalibrateAssignment>(assignment.work);
    TRIBUTARY_ASSIGN_OR_RETURN(const Moments moments,
                               worker_->Calibrate(calibrate, weights(), device, samples_.data()));
    answer.compute_seconds = ToSeconds(clock_.Now() - begun);
    TRIBUTARY_RETURN_IF_ERROR(transfers.Push(Array::kMomentSums, std::as_bytes(std::span(moments.sums)), 0));
    TRIBUTARY_RETURN_IF_ERROR(
        transfers.Push(Array::kMomentCounts, std::as_bytes(std::span(moments.counts)), 0));
  }
  return answer;
}

}  // namespace tributary::inline device
