#include "tributary/device/local_samples.h"

#include "tributary/data/load.h"
#include "tributary/device/device_runtime.h"
#include "tributary/device/device_stream.h"
#include "tributary/device/setting.h"
#include "tributary/experiment/fleet_builder.h"

namespace tributary::inline device {
namespace {

struct LoadedSamples {
  std::shared_ptr<const Dataset> dataset;
  LocalData data;
};

// Normalised as the coordinator requires.
StatusOr<LoadedSamples> LoadOwn(const std::filesystem::path& folder, const Welcome& welcome,
                                const Experiment& experiment) {
  DataOptions options{.name = (folder / "").string(),
                      .classes = experiment.data.classes,
                      .images = experiment.data.images,
                      .sensors = experiment.data.sensors};
  // Images are scaled to the coordinator's format.
  options.images.height = static_cast<std::size_t>(welcome.input.height);
  options.images.width = static_cast<std::size_t>(welcome.input.width);
  options.images.colour = welcome.input.channels == 1 ? ImageColour::kGrey : ImageColour::kColour;
  TRIBUTARY_ASSIGN_OR_RETURN(TrainTest own, LoadData(options));
  if (own.train.shape() != welcome.input || own.train.classes() > welcome.classes) {
    return InvalidArgument("the samples in " + folder.string() + " have shape " +
                           FormatShape(own.train.shape()) + " and " + std::to_string(own.train.classes()) +
                           " classes; the experiment needs " + FormatShape(welcome.input) + " and at most " +
                           std::to_string(welcome.classes));
  }
  auto dataset = std::make_shared<const Dataset>(
      std::move(own.train).WithClasses(welcome.classes).WithNormalisation({welcome.mean, welcome.deviation}));
  LocalData data = HoldOut(experiment, welcome.device, *dataset, SampleRange(0, dataset->size()));
  return LoadedSamples{std::move(dataset), std::move(data)};
}

StatusOr<LoadedSamples> LoadPart(const Welcome& welcome, const Experiment& experiment,
                                 const std::filesystem::path& data_dir) {
  const auto devices = static_cast<std::uint64_t>(TotalDevices(experiment.fleet));
  if (experiment.data.set.find('/') != std::string::npos) {
    return InvalidArgument("the experiment's data are in a folder of the coordinator (" +
                           experiment.data.set + "); give this device its own data with --data");
  }
  if (welcome.device.value >= devices) {
    return InvalidArgument("the experiment divides its data among " + std::to_string(devices) +
                           " devices and this is number " + std::to_string(welcome.device.value + 1) +
                           "; give it its own data with --data");
  }
  TRIBUTARY_ASSIGN_OR_RETURN(TrainTest data, LoadExperimentData(experiment, data_dir));
  if (data.train.shape() != welcome.input || data.train.classes() != welcome.classes) {
    return InvalidArgument("the data set '" + experiment.data.set + "' differs from the coordinator's");
  }
  TRIBUTARY_ASSIGN_OR_RETURN(std::vector<LocalData> dealt, DealOut(experiment, data.train));
  LocalData& mine = dealt[welcome.device.value];
  // Keeps only its own samples in memory, in order, so that batches equal the simulated device's.
  std::vector<std::uint32_t> kept = mine.training;
  kept.insert(kept.end(), mine.held_out.begin(), mine.held_out.end());
  auto dataset = std::make_shared<const Dataset>(data.train.Select(kept));
  LocalData local{dataset.get(), SampleRange(0, mine.training.size()),
                  SampleRange(mine.training.size(), mine.held_out.size())};
  return LoadedSamples{std::move(dataset), std::move(local)};
}

// The stream that the owner gave, otherwise the experiment's.
StatusOr<std::optional<StreamPlace>> PlaceOfStream(const DeviceRuntimeOptions& options,
                                                   const Welcome& welcome, const Experiment& experiment) {
  if (options.stream) {
    std::optional<StreamPlace> place = options.stream;
    if (auto* own = std::get_if<OwnPlace>(&*place)) own->samples = options.data.has_value();
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
        "the experiment's batches follow the devices' streams; give this device one with --stream");
  }
  return std::optional<StreamPlace>();
}

}  // namespace

StatusOr<LocalSamples> LocalSamples::Open(const DeviceRuntimeOptions& options, const Welcome& welcome,
                                          const Experiment& experiment, const std::filesystem::path& state,
                                          const Clock& clock) {
  LocalSamples samples;
  samples.options_ = &options;
  samples.clock_ = &clock;
  samples.welcome_ = welcome;
  if (experiment.injection.on()) samples.record_bytes_ = RecordBytes(samples.format());
  TRIBUTARY_ASSIGN_OR_RETURN(const std::optional<StreamPlace> place,
                             PlaceOfStream(options, welcome, experiment));
  samples.broker_ = place && !IsOwn(*place);
  if (!samples.broker_) {
    TRIBUTARY_ASSIGN_OR_RETURN(LoadedSamples loaded, options.data
                                                         ? LoadOwn(*options.data, welcome, experiment)
                                                         : LoadPart(welcome, experiment, options.data_dir));
    samples.dataset_ = std::move(loaded.dataset);
    samples.data_ = std::move(loaded.data);
  }
  if (!place) return samples;
  if (experiment.train.local_epochs) {
    return InvalidArgument(
        "the experiment asks for local-epochs, and a stream has no epochs; use local-steps");
  }
  const DeviceStreamOptions stream{.format = samples.format(),
                                   .buffer = experiment.stream.buffer,
                                   .memory = options.buffer_memory,
                                   .disk = options.buffer_disk,
                                   .batch = static_cast<std::size_t>(experiment.train.batch),
                                   .folder = state / "stream",
                                   .settings = options.broker_settings,
                                   .dataset = samples.dataset_,
                                   .part = samples.data_.training,
                                   .seed = experiment.goal.seed,
                                   .device = welcome.device,
                                   .from = welcome.stream_from,
                                   .say = options.say};
  TRIBUTARY_ASSIGN_OR_RETURN(samples.source_, OpenDeviceStream(*place, stream, clock));
  return samples;
}

SampleFormat LocalSamples::format() const {
  return {welcome_.input, welcome_.float_samples ? SampleElement::kFloat : SampleElement::kByte,
          welcome_.classes};
}

Status LocalSamples::Seek(std::int64_t from, std::int64_t kept) {
  if (!source_) return OkStatus();
  TRIBUTARY_RETURN_IF_ERROR(source_->Seek(from));
  return source_->Forget(kept);
}

StatusOr<std::optional<RoundSamples>> LocalSamples::BlankBatch(std::size_t count) const {
  std::optional<RoundSamples> batch;
  if (!broker_) return batch;
  StreamSample blank{.element = format().element};
  blank.payload.resize(static_cast<std::size_t>(format().bytes().value));
  TRIBUTARY_ASSIGN_OR_RETURN(auto dataset, DatasetOf(std::vector<StreamSample>(count, blank)));
  batch = {std::move(dataset), SampleRange(0, count), count, {0}};
  return batch;
}

StatusOr<LocalSamples::Taken> LocalSamples::Take(const TrainAssignment& train, const Assignment& assignment,
                                                 Transfers& transfers) {
  Taken taken;
  const bool shares = assignment.share > 0 || assignment.received > 0;
  if (shares && train.answer != TrainAssignment::Answer::kGradient) {
    return InvalidArgument("samples are only shared with sync-sgd");
  }
  if (!source_ && !shares) return taken;
  std::vector<StreamSample> samples;
  if (source_) {
    TRIBUTARY_ASSIGN_OR_RETURN(samples, TakeFromStream(train, assignment, transfers, taken.stream.emplace()));
  } else {
    samples = TakeOwn(train);
  }
  RoundSamples& round = taken.samples.emplace();
  round.batch = train.batch;
  for (std::size_t i = 0; i < samples.size(); i += round.batch)
    round.keys.push_back(static_cast<std::uint64_t>(samples[i].position));
  if (shares) {
    TRIBUTARY_ASSIGN_OR_RETURN(taken.shared, Share(assignment, transfers, samples));
    round.batch = samples.size();
  }
  TRIBUTARY_ASSIGN_OR_RETURN(round.dataset, DatasetOf(samples));
  round.places = SampleRange(0, samples.size());
  return taken;
}

void LocalSamples::Used(Taken taken) {
  if (!broker_) return;
  dataset_ = std::move(taken.samples->dataset);
  data_ = {dataset_.get(), std::move(taken.samples->places), {}};
}

StatusOr<std::vector<StreamSample>> LocalSamples::TakeFromStream(const TrainAssignment& train,
                                                                 const Assignment& assignment,
                                                                 const Transfers& transfers, StreamUse& use) {
  if (train.epochs > 0) return InvalidArgument("a stream has no epochs");
  const TimePoint begun = clock_->Now();
  TRIBUTARY_RETURN_IF_ERROR(Seek(assignment.stream_from, assignment.stream_kept));
  TRIBUTARY_ASSIGN_OR_RETURN(
      std::vector<StreamSample> taken,
      source_->Take(train.batch * static_cast<std::size_t>(train.steps), [&] { return transfers.over(); }));
  const StreamStanding standing = source_->standing();
  use = {.first = taken.front().position,
         .last = taken.back().position,
         .wait_seconds = ToSeconds(clock_->Now() - begun),
         .samples_per_second = standing.rate ? standing.rate->value : 0,
         .buffered = standing.buffer.samples,
         .oldest_seconds = ToSeconds(standing.buffer.oldest),
         .dropped = standing.buffer.dropped,
         .missing = standing.counts.missing,
         .undecodable = standing.counts.undecodable,
         .duplicates = standing.counts.duplicates};
  return taken;
}

std::vector<StreamSample> LocalSamples::TakeOwn(const TrainAssignment& train) const {
  const std::uint64_t step = StepsOf(train, data_).first;
  std::vector<StreamSample> own;
  for (const std::uint32_t index : BatchSamples(data_, train.batch, {train.seed, welcome_.device, step})) {
    own.push_back(SampleOf(*data_.dataset, index));
    own.back().position = static_cast<std::int64_t>(step);  // keys the batch's random numbers
  }
  return own;
}

StatusOr<std::vector<std::byte>> LocalSamples::Share(const Assignment& assignment, Transfers& transfers,
                                                     std::vector<StreamSample>& samples) const {
  if (record_bytes_ == 0) return InvalidArgument("the experiment's devices share no samples");
  if (assignment.share > 0) TRIBUTARY_RETURN_IF_ERROR(options_->consent.Check(kSamplesLeave));
  std::vector<std::byte> records;
  for (std::size_t i = 0; i < std::min(assignment.share, samples.size()); ++i)
    AppendRecord(samples[i], records);
  if (assignment.received > 0) {
    TRIBUTARY_ASSIGN_OR_RETURN(const std::vector<std::byte> received, transfers.AwaitSamples());
    if (received.size() != assignment.received * record_bytes_) {
      return InvalidArgument("the coordinator has sent fewer samples than it promised");
    }
    TRIBUTARY_RETURN_IF_ERROR(ReadRecords(format(), received, samples));
  }
  return records;
}

StatusOr<std::shared_ptr<const Dataset>> LocalSamples::DatasetOf(
    std::span<const StreamSample> samples) const {
  TRIBUTARY_ASSIGN_OR_RETURN(
      Dataset dataset,
      DatasetOfSamples({"stream", welcome_.input, welcome_.classes, {welcome_.mean, welcome_.deviation}},
                       format().element, samples));
  return std::make_shared<const Dataset>(std::move(dataset));
}

}  // namespace tributary::inline device
