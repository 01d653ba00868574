#include "tributary/fleet/remote/local_work.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "tributary/data/record.h"
#include "tributary/device/setting.h"
#include "tributary/device/split_network.h"
#include "tributary/engine/compute.h"
#include "tributary/experiment/fleet_builder.h"
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

}  // namespace

LocalWork::LocalWork(LocalWorkOptions options, const Clock& clock)
    : options_(std::move(options)), clock_(clock) {}
LocalWork::~LocalWork() = default;

std::size_t LocalWork::size(Array array) const {
  return array == Array::kParameters ? parameters_.size() : statistics_.size();
}

std::span<const Segment> LocalWork::units(Array array) const {
  return array == Array::kParameters ? model_->parameters.units : model_->statistics.units;
}

void LocalWork::Place(Array array, std::size_t offset, ByteSpan values) {
  std::memcpy((array == Array::kParameters ? parameters_ : statistics_).data() + offset, values.data(),
              values.size());
}

StatusOr<std::optional<StreamPlace>> LocalWork::PlaceOfStream(const Welcome& welcome,
                                                              const Experiment& experiment) const {
  if (options_.stream) {
    std::optional<StreamPlace> place = options_.stream;
    if (auto* own = std::get_if<OwnPlace>(&*place)) own->samples = options_.data.has_value();
    return place;
  }
  SamplesPerSecond rate;
  if (welcome.device.value < static_cast<std::uint64_t>(TotalDevices(experiment.fleet))) {
    TRIBUTARY_ASSIGN_OR_RETURN(const std::vector<DeviceProfile> profiles, BuildFleet(experiment));
    const DeviceProfile& profile = profiles[welcome.device.value];
    rate = profile.stream_rate;
    if (rate.value > 0 && !experiment.stream.own) {
      const RateSteps& steps = profile.stream_programme;
      TRIBUTARY_ASSIGN_OR_RETURN(RateProgramme programme,
                                 RateProgramme::Make(profile.stream_rate, steps.steps, steps.after));
      return std::optional<StreamPlace>(ReplayPlace{std::move(programme)});
    }
  }
  if (experiment.stream.own) return std::optional<StreamPlace>(OwnPlace{*experiment.stream.own, true, rate});
  if (experiment.stream.recorded_speed)
    return std::optional<StreamPlace>(RecordedPlace{*experiment.stream.recorded_speed});
  if (experiment.stream.batch.rule == BatchRule::kStreamRate) {
    return InvalidArgument(
        "the experiment's batches follow the devices' streams, and this device has none; say with"
        " --stream where its samples come from");
  }
  return std::optional<StreamPlace>();
}

Status LocalWork::OpenStream(const StreamPlace& place, const Welcome& welcome, const Experiment& experiment) {
  if (experiment.train.local_epochs) {
    return InvalidArgument(
        "the experiment asks for local-epochs, and a stream has no epochs; use local-steps");
  }
  own_samples_ = IsOwn(place);
  DeviceStreamOptions stream{.format = FormatFor(welcome),
                             .buffer = experiment.stream.buffer,
                             .memory = options_.buffer_memory,
                             .disk = options_.buffer_disk,
                             .batch = static_cast<std::size_t>(experiment.train.batch),
                             .folder = state_ / "stream",
                             .settings = options_.broker_settings,
                             .dataset = samples_.dataset,
                             .part = samples_.data.training,
                             .seed = experiment.goal.seed,
                             .device = welcome.device,
                             .from = welcome.stream_from,
                             .say = options_.say};
  TRIBUTARY_ASSIGN_OR_RETURN(source_, OpenDeviceStream(place, stream, clock_));
  return OkStatus();
}

Status LocalWork::Build(const Welcome& welcome) {
  welcome_.reset();
  offers_.Withdraw();  // Its model goes.
  source_.reset();
  own_samples_ = true;
  TRIBUTARY_ASSIGN_OR_RETURN(
      const Experiment experiment,
      ReadExperimentText(welcome.experiment, {"the coordinator's experiment", std::nullopt}, {},
                         options_.extensions));
  TRIBUTARY_ASSIGN_OR_RETURN(model_,
                             BuildNetwork(experiment.model.name, experiment, welcome.input, welcome.classes));
  if (!experiment.model.freeze.empty()) {
    if (!experiment.model.weights.empty() && options_.weights.empty()) {
      return InvalidArgument("the experiment freezes layers at the weights of '" +
                             std::filesystem::path(experiment.model.weights).filename().string() +
                             "', which are not sent; say with --weights where this device has that file");
    }
    TRIBUTARY_ASSIGN_OR_RETURN(
        StartingPoint start,
        StartFrom(experiment, model_, experiment.model.weights.empty() ? "" : options_.weights));
    model_ = std::move(start.model);
  }
  cut_.reset();
  choice_.reset();
  if (experiment.train.method == Method::kSplit) {
    const SplitNetwork network = CutNetwork(experiment, model_);
    cut_ = {network.cut, network.wire};
    model_ = network.held;
  }
  // Of another experiment, nothing that was kept has a meaning.
  Digest experiment_digest;
  experiment_digest.Add(std::as_bytes(std::span(welcome.experiment)));
  state_ = options_.state / experiment_digest.Hex();
  TRIBUTARY_ASSIGN_OR_RETURN(const std::optional<StreamPlace> place, PlaceOfStream(welcome, experiment));
  samples_ = {};
  if (!place || IsOwn(*place)) {
    TRIBUTARY_ASSIGN_OR_RETURN(samples_, LoadSamples(welcome, experiment, options_.data, options_.data_dir));
  }
  if (place) TRIBUTARY_RETURN_IF_ERROR(OpenStream(*place, welcome, experiment));
  parameters_ = FlatBuffer(model_->parameters.size);
  statistics_ = FlatBuffer(model_->statistics.size);
  SetComputeThreads(options_.threads);
  worker_ = std::make_unique<Worker>(model_, ExecutorOptions{.device = options_.device});
  record_bytes_ = experiment.injection.on() ? RecordBytes(FormatFor(welcome)) : 0;
  compressor_.reset();
  if (experiment.compression.kind != CompressionKind::kDense) {
    compressor_.emplace(experiment.compression, model_, welcome.piece_floats);
  }
  gossip_.reset();
  mix_.reset();
  if (experiment.train.method == Method::kGossip) {
    gossip_ = std::make_unique<GossipModel>(model_, experiment.train.optimiser);
    mix_ = std::make_unique<ModelMix>(*model_);
  }
  ready_ = Ready{.layout = LayoutHash(*model_),
                 .samples = static_cast<std::int64_t>(samples_.data.training.size()),
                 .held_out = static_cast<std::int64_t>(samples_.data.held_out.size()),
                 .memory_bytes = MemoryOfMachine(),
                 .threads = static_cast<std::uint32_t>(options_.threads),
                 .streams = source_ != nullptr};
  if (std::ranges::find(welcome.needs, "label-counts") != welcome.needs.end() && samples_.dataset) {
    ready_.label_counts.assign(static_cast<std::size_t>(welcome.classes), 0);
    for (const std::uint32_t sample : samples_.data.training) {
      ++ready_.label_counts[static_cast<std::size_t>(samples_.dataset->labels()[sample])];
    }
  }
  const auto batch = static_cast<std::size_t>(experiment.train.batch);
  LocalSamples blank;
  if (source_ && !own_samples_) {
    TRIBUTARY_ASSIGN_OR_RETURN(blank, BlankSamples(welcome, batch));
  }
  const LocalData& measured = blank.dataset ? blank.data : samples_.data;
  if (!measured.training.empty()) {
    InitialiseWeights(*model_, 1, parameters_.span(), statistics_.span());
    TRIBUTARY_ASSIGN_OR_RETURN(const Processing processing, MeasureCompute(measured, batch, ready_));
    TRIBUTARY_RETURN_IF_ERROR(PrepareChoice(experiment, batch, processing));
  }
  welcome_ = welcome;
  return OkStatus();
}

StatusOr<LocalWork::Processing> LocalWork::MeasureCompute(const LocalData& data, std::size_t batch,
                                                          Ready& ready) {
  constexpr Duration kLongEnough = std::chrono::milliseconds(200);
  constexpr int kMost = 20;
  TrainAssignment assignment;
  assignment.batch = batch;
  TrainHooks hooks{.clock = &clock_};
  if (cut_) {  // What comes back takes no time here, and may be anything.
    hooks.cut = cut_->node;
    hooks.cross = [&](const CutBatch& crossed) -> StatusOr<CutReply> {
      const std::size_t count = crossed.values.size() / cut_->wire.Up(crossed.crossing).values;
      return CutReply{std::vector<float>(count * cut_->wire.Down(crossed.crossing).values, 1e-3F), 0, 0};
    };
  }
  double samples = 0;
  int steps = 0;
  TimePoint begun{0};
  double used = 0;
  for (int i = 0; i <= kMost; ++i) {
    if (i == 1) {  // The first is slower than those that follow.
      begun = clock_.Now();
      used = ProcessorMeter::Used();
    }
    TRIBUTARY_ASSIGN_OR_RETURN(const Worker::Trained trained,
                               worker_->Train(assignment, weights(), DeviceId{0}, data, hooks));
    if (i == 0) continue;
    samples += trained.update.weight;
    ++steps;
    ready.forward_seconds = Seconds(trained.times.layers.forward);
    ready.backward_seconds = Seconds(trained.times.layers.backward);
    if (clock_.Now() - begun > kLongEnough) break;
  }
  const double macs = 3 * static_cast<double>(TotalMacs(model_->costs).value) * samples;
  const double seconds = std::max(1e-9, ToSeconds(clock_.Now() - begun));
  ready.macs_per_second = macs / seconds;
  const double processing = std::max(1e-9, ProcessorMeter::Used() - used);
  return Processing{processing / steps, processing / seconds};
}

Status LocalWork::PrepareChoice(const Experiment& experiment, std::size_t batch, const Processing& measured) {
  if (!Chooses(experiment.dropout.method)) return OkStatus();
  TRIBUTARY_ASSIGN_OR_RETURN(DropoutMenu menu, DropoutMenu::Make(*model_, experiment.dropout));
  scaling_ = ScalingOf(experiment.dropout, model_->graph);
  LiveChoice::Options options{.processors = measured.processors, .availability = options_.availability};
  // What is known from elsewhere, in the proportion of what the whole network takes here.
  const DropoutMenu::Entry& most = menu.entries().back();
  const auto samples = static_cast<double>(batch);
  const CostFeatures features{most.features.macs * samples, most.features.activations * samples};
  if (experiment.dropout.front) options.known = experiment.dropout.front->cost_model;
  if (!(options.known.Seconds(features) > 0)) options.known = {0, 1, 0};
  const double factor = most.macs * measured.seconds / options.known.Seconds(features);
  options.known = {options.known.fixed * factor, options.known.per_mac * factor,
                   options.known.per_byte * factor};
  options.menu = std::make_shared<const DropoutMenu>(std::move(menu));
  choice_ = std::make_unique<LiveChoice>(std::move(options), clock_);
  return OkStatus();
}

void LocalWork::BeginChoice(const TrainAssignment& train, const Assignment& assignment, TimePoint begun,
                            TrainHooks& hooks) {
  std::vector<std::size_t> samples;
  const auto all = static_cast<std::int64_t>(samples_.data.training.size());
  const std::uint64_t steps =
      hooks.read ? static_cast<std::uint64_t>(train.steps) : StepsOf(train, samples_.data).count;
  for (std::uint64_t i = 0; i < steps; ++i) {
    samples.push_back(hooks.read ? static_cast<std::size_t>(hooks.samples) / steps
                                 : SamplesAt(train, all, i));
  }
  std::optional<TimePoint> until;
  if (assignment.time_left_seconds > 0)
    until = begun + FromSeconds(std::min(assignment.time_left_seconds, 1e8));
  choice_->Begin({train.seed, welcome_->device, train.round}, std::move(samples), until);
  hooks.keep = [this](std::uint64_t) { return choice_->Next(); };
  hooks.scaling = scaling_;
}

StatusOr<Ready> LocalWork::Prepare(const Welcome& welcome) {
  const bool same = welcome_ && welcome_->experiment == welcome.experiment &&
                    welcome_->device == welcome.device && welcome_->input == welcome.input &&
                    welcome_->classes == welcome.classes && welcome_->mean == welcome.mean &&
                    welcome_->deviation == welcome.deviation;
  if (!same) TRIBUTARY_RETURN_IF_ERROR(Build(welcome));
  if (source_) {
    TRIBUTARY_RETURN_IF_ERROR(source_->Seek(welcome.stream_from));
    TRIBUTARY_RETURN_IF_ERROR(source_->Forget(welcome.stream_kept));
  }
  if (gossip_) ready_.models = GossipModel::Saved(state_);
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

StatusOr<std::vector<StreamSample>> LocalWork::TakeFromStream(const TrainAssignment& train,
                                                              const Assignment& assignment,
                                                              const Transfers& transfers, StreamUse& use) {
  if (train.epochs > 0) return InvalidArgument("a stream has no epochs");
  const TimePoint begun = clock_.Now();
  TRIBUTARY_RETURN_IF_ERROR(source_->Seek(assignment.stream_from));
  TRIBUTARY_RETURN_IF_ERROR(source_->Forget(assignment.stream_kept));
  TRIBUTARY_ASSIGN_OR_RETURN(
      std::vector<StreamSample> taken,
      source_->Take(train.batch * static_cast<std::size_t>(train.steps), [&] { return transfers.over(); }));
  const StreamStanding standing = source_->standing();
  use = {.first = taken.front().position,
         .last = taken.back().position,
         .wait_seconds = ToSeconds(clock_.Now() - begun),
         .samples_per_second = standing.rate ? standing.rate->value : 0,
         .buffered = standing.buffer.samples,
         .oldest_seconds = ToSeconds(standing.buffer.oldest),
         .dropped = standing.buffer.dropped,
         .missing = standing.counts.missing,
         .undecodable = standing.counts.undecodable,
         .duplicates = standing.counts.duplicates};
  return taken;
}

std::vector<StreamSample> LocalWork::TakeOwn(const TrainAssignment& train) const {
  const LocalData& data = samples_.data;
  const std::uint64_t step = StepsOf(train, data).first;
  std::vector<StreamSample> own;
  for (const std::uint32_t index : BatchSamples(data, train.batch, {train.seed, welcome_->device, step})) {
    own.push_back(SampleOf(*data.dataset, index));
    own.back().position = static_cast<std::int64_t>(step);  // which keys the batch's chance
  }
  return own;
}

StatusOr<std::vector<std::byte>> LocalWork::Share(const Assignment& assignment, Transfers& transfers,
                                                  std::vector<StreamSample>& samples) const {
  std::vector<std::byte> records;
  for (std::size_t i = 0; i < std::min(assignment.share, samples.size()); ++i)
    AppendRecord(samples[i], records);
  if (assignment.received > 0) {
    TRIBUTARY_ASSIGN_OR_RETURN(const std::vector<std::byte> received, transfers.AwaitSamples());
    if (received.size() != assignment.received * record_bytes_) {
      return InvalidArgument("the coordinator has sent fewer samples than it promised");
    }
    TRIBUTARY_RETURN_IF_ERROR(ReadRecords(FormatFor(*welcome_), received, samples));
  }
  return records;
}

StatusOr<CutReply> LocalWork::Cross(const CutBatch& batch, Transfers& transfers) const {
  const CutWire::Form up = cut_->wire.Up(batch.crossing), down = cut_->wire.Down(batch.crossing);
  const std::size_t samples = batch.values.size() / up.values;
  std::vector<std::byte> bytes;
  TRIBUTARY_RETURN_IF_ERROR(AppendCut(up.precision, batch.values, up.values, bytes));
  const auto labels = std::as_bytes(batch.labels);
  bytes.insert(bytes.end(), labels.begin(), labels.end());
  TRIBUTARY_ASSIGN_OR_RETURN(bytes, transfers.Cross(batch.crossing, bytes, down.BytesOf(samples)));
  CutReply reply;
  reply.values.resize(samples * down.values);
  TRIBUTARY_RETURN_IF_ERROR(ReadCut(down.precision, bytes, down.values, reply.values));
  return reply;
}

StatusOr<Answer> LocalWork::Train(const TrainAssignment& train, const Assignment& assignment,
                                  Transfers& transfers) {
  const TimePoint begun = clock_.Now();
  const bool meeting = train.answer == TrainAssignment::Answer::kMeeting;
  if (meeting != meets())
    return InvalidArgument("the assignment is of another way to train than the experiment");
  TrainHooks hooks;
  hooks.should_stop = [&] { return transfers.over(); };
  hooks.clock = &clock_;
  if (!meeting) {
    hooks.await = [&](std::size_t unit) { return transfers.AwaitUnit(unit); };
    hooks.ready = [&](const Update& update, std::size_t unit) { transfers.UnitReady(update, unit); };
  }
  LocalSamples read;
  std::vector<std::int64_t> keys;  // of each step's chance
  std::vector<std::byte> shared;
  Answer answer;
  const bool shares = assignment.share > 0 || assignment.received > 0;
  if (shares && train.answer != TrainAssignment::Answer::kGradient) {
    return InvalidArgument("samples are shared between gradients only");
  }
  if (source_ || shares) {
    // Weights come in meanwhile.
    std::vector<StreamSample> samples;
    if (source_) {
      TRIBUTARY_ASSIGN_OR_RETURN(samples,
                                 TakeFromStream(train, assignment, transfers, answer.stream.emplace()));
    } else {
      samples = TakeOwn(train);
    }
    std::size_t batch = train.batch;
    for (std::size_t i = 0; i < samples.size(); i += batch) keys.push_back(samples[i].position);
    if (shares) {
      TRIBUTARY_ASSIGN_OR_RETURN(shared, Share(assignment, transfers, samples));
      batch = samples.size();
    }
    TRIBUTARY_ASSIGN_OR_RETURN(read, SamplesOfStream(*welcome_, samples));
    hooks.samples = static_cast<std::int64_t>(samples.size());
    hooks.read = [&, batch](std::uint64_t step, Batch& out) {
      const auto mine = std::span(read.data.training).subspan(step * batch, batch);
      GatherBatch(*read.dataset, mine, train.augment,
                  {train.seed, welcome_->device, static_cast<std::uint64_t>(keys[step])}, out);
    };
  }
  if (cut_ && train.answer == TrainAssignment::Answer::kGradient && !train.first) {
    return InvalidArgument("the network is cut, and the assignment does not say which samples");
  }
  if (cut_) {
    if (train.epochs > 0 || train.steps > kMostCutSteps) {
      return InvalidArgument("an assignment of more than " + std::to_string(kMostCutSteps) +
                             " steps over a cut");
    }
    if (source_ && !train.first) {
      return InvalidArgument(
          "the other side of the cut must know how many samples a step has, and this device's come in"
          " a stream; start it without --stream");
    }
    hooks.cut = cut_->node;
    hooks.cross = [&](const CutBatch& batch) -> StatusOr<CutReply> {
      const TimePoint begun = clock_.Now();
      auto reply = Cross(batch, transfers);
      answer.cross_seconds += ToSeconds(clock_.Now() - begun);
      return reply;
    };
  }
  if (compressor_) Remember(assignment);
  if (choice_) BeginChoice(train, assignment, begun, hooks);
  TRIBUTARY_ASSIGN_OR_RETURN(const Worker::Trained trained,
                             meeting
                                 ? TrainOwn(train, assignment, transfers, hooks)
                                 : worker_->Train(train, weights(), welcome_->device, samples_.data, hooks));
  const TimePoint trained_at = clock_.Now();
  if (choice_) choice_->End(trained.times.Total());
  TRIBUTARY_RETURN_IF_ERROR(transfers.Finish());
  TRIBUTARY_RETURN_IF_ERROR(transfers.PushSamples(shared, record_bytes_));
  if (compressor_) {
    compressor_->End();
    // Before the answer: once that is taken, this round counts.
    TRIBUTARY_RETURN_IF_ERROR(compressor_->Save(state_, assignment.durable_round));
  }
  if (meeting) TRIBUTARY_RETURN_IF_ERROR(Meet(assignment, transfers, answer));
  answer.samples = trained.metrics.samples;
  answer.loss = trained.metrics.loss;
  answer.correct = trained.metrics.correct;
  answer.forward_seconds = Seconds(trained.times.layers.forward);
  answer.backward_seconds = Seconds(trained.times.layers.backward);
  answer.between_seconds = ToSeconds(trained.times.between);
  answer.compute_seconds = ToSeconds(trained.times.Total());
  if (choice_) {
    choice_->Sent(clock_.Now() - trained_at);
    const RoundChoice& choice = choice_->choice();
    answer.kept = KeptShare{MeanMacs(choice.menu(), choice.chosen()), choice.chosen()};
  }
  if (!own_samples_)
    samples_ = std::move(read);  // Of a broker's stream, the last batch is all there is to look at.
  return answer;
}

StatusOr<Answer> LocalWork::Do(const Assignment& assignment, Transfers& transfers) {
  const DeviceId device = welcome_->device;
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
    if (samples_.data.held_out.empty()) return answer;
    TRIBUTARY_ASSIGN_OR_RETURN(const EvaluationTotals totals,
                               worker_->Evaluate(*evaluate, weights(), samples_.data));
    answer.samples = totals.samples;
    answer.loss = totals.loss;
    answer.correct = totals.correct;
    answer.compute_seconds = ToSeconds(clock_.Now() - begun);
  } else {
    const auto& calibrate = std::get<CalibrateAssignment>(assignment.work);
    TRIBUTARY_ASSIGN_OR_RETURN(const Moments moments,
                               worker_->Calibrate(calibrate, weights(), device, samples_.data));
    answer.compute_seconds = ToSeconds(clock_.Now() - begun);
    TRIBUTARY_RETURN_IF_ERROR(transfers.Push(Array::kMomentSums, std::as_bytes(std::span(moments.sums)), 0));
    TRIBUTARY_RETURN_IF_ERROR(
        transfers.Push(Array::kMomentCounts, std::as_bytes(std::span(moments.counts)), 0));
  }
  return answer;
}

}  // namespace tributary::remote
