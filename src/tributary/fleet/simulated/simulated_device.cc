#include "tributary/fleet/simulated/simulated_device.h"

#include <numeric>

#include "tributary/base/check.h"

namespace tributary::inline simulated {

constexpr std::size_t kLongestBlock = 65536;  // of real coordinators

Bytes BytesOf(const Model& model) {
  return Bytes{static_cast<std::int64_t>((model.parameters.size + model.statistics.size) * sizeof(float))};
}

SimulatedDevice::SimulatedDevice(const SimulatedFleetOptions& options, DeviceId id)
    : options_(options), id_(id), push_ratio_(MakeCodec(options.compression)->ExpectedRatio()) {
  if (data().training.empty()) return;
  if (!options.own_streams.empty()) {
    const auto& own = options.own_streams[id.value];
    stream_ = std::make_unique<Stream>(Stream{SimulatedStream(Arrivals(own), options.buffer), {}, own});
    return;
  }
  std::optional<Playback> playback;
  if (profile().stream_rate.value > 0) {
    const RateSteps& steps = profile().stream_programme;
    auto programme = RateProgramme::Make(profile().stream_rate, steps.steps, steps.after);
    playback.emplace(PlayAtRate(std::move(programme).value(), data().training.size(), options.seed, id));
  } else if (options.recorded_speed) {
    playback.emplace(PlayAsRecorded(*data().dataset, data().training, *options.recorded_speed));
  }
  if (!playback) return;
  stream_ = std::make_unique<Stream>(
      Stream{SimulatedStream(std::move(playback->arrivals), options.buffer), std::move(playback->order), {}});
}

Status SimulatedDevice::CheckStream() const {
  if (!stream_ || !stream_->own || stream_->own->status().ok()) return OkStatus();
  return Status(stream_->own->status()).WithContext("device " + std::to_string(id_.value));
}

RoundSamples SimulatedDevice::Read(const TrainAssignment& assignment, std::int64_t first) {
  RoundSamples samples{.batch = assignment.batch};
  // The data set outlives every round.
  samples.dataset = std::shared_ptr<const Dataset>(std::shared_ptr<void>(), data().dataset);
  if (!stream_) {
    samples.keys = {StepsOf(assignment, data()).first};
    samples.places = BatchSamples(data(), assignment.batch, {assignment.seed, id_, samples.keys[0]});
    samples.batch = samples.places.size();
    return samples;
  }
  const auto count = assignment.batch * static_cast<std::size_t>(assignment.steps);
  for (std::size_t i = 0; i < count; i += assignment.batch)
    samples.keys.push_back(static_cast<std::uint64_t>(first) + i);
  if (stream_->order) {
    samples.places = StreamSamples(data(), *stream_->order, first, count);
  } else {
    auto own = stream_->own->Samples(first, count, data().dataset->normalisation());
    TRIBUTARY_CHECK(own.ok());  // Only samples that fit arrive.
    samples.dataset = std::make_shared<const Dataset>(std::move(own).value());
    samples.places.resize(count);
    std::iota(samples.places.begin(), samples.places.end(), 0U);
  }
  return samples;
}

void SimulatedDevice::ReportStream(TimePoint end, std::int64_t first, std::int64_t count,
                                   DeviceReport& report) {
  if (!stream_) return;
  const bool applied = report.outcome == Outcome::kApplied;
  if (stream_->own) stream_->own->Forget(first + (applied ? count : 0));
  SimulatedStream& stream = stream_->stream;
  stream.Observe(end);
  report.stream.emplace();
  report.stream->rate = stream.rate();
  report.stream->buffered = stream.Buffered(end);
  report.stream->dropped = stream.dropped();
  if (!applied) return;
  report.stream->first = first;
  report.stream->last = first + count - 1;
}

void SimulatedDevice::PrepareToCompress() {
  if (options_.compression.kind == CodecNamed("dense") || compressor_) return;
  compressor_ =
      std::make_unique<UpdateCompressor>(options_.compression, options_.training.model, kLongestBlock);
}

Status SimulatedDevice::Compress(RoundId round, Update& update, std::vector<float>& seen) {
  seen.resize(update.parameters.size());
  TRIBUTARY_ASSIGN_OR_RETURN(const std::int64_t bytes, compressor_->Apply(round, counted_, update, seen));
  answered_ = round;
  push_ratio_ =
      static_cast<double>(bytes + static_cast<std::int64_t>(update.statistics.size() * sizeof(float))) /
      static_cast<double>((update.parameters.size() + update.statistics.size()) * sizeof(float));
  update.parameters = seen;
  return OkStatus();
}

GossipModel& SimulatedDevice::BeginOwn(RoundId round, const SharedWeights& start) {
  if (!own_) own_ = std::make_unique<GossipModel>(options_.training.model, *options_.gossip);
  own_->Begin(round, counted_, start);
  return *own_;
}

}  // namespace tributary::inline simulated
