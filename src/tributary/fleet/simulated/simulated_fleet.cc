#include "tributary/fleet/simulated/simulated_fleet.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tributary/base/check.h"
#include "tributary/data/record.h"
#include "tributary/device/evaluate_in_parts.h"
#include "tributary/engine/compute.h"
#include "tributary/fleet/simulated/event_queue.h"

namespace tributary {
namespace {

// An answer without weights: a few numbers.
constexpr Bytes kSmallMessage{256};

// As real coordinators cut updates.
constexpr std::size_t kLongestBlock = 65536;

// What compression should make of a byte of an update, before any has been seen: a place takes about a byte.
double FirstRatio(const CompressionOptions& options) {
  switch (options.kind) {
    case CompressionKind::kDense:
      return 1;
    case CompressionKind::kAdaptiveTopK:  // Its first step is sparse.
    case CompressionKind::kTopK:
      return std::min(1.0, options.ratio * 5 / 4);
    case CompressionKind::kInt8:
      return 0.25;
  }
  return 1;
}

Bytes BytesOf(const Model& model) {
  return Bytes{static_cast<std::int64_t>((model.parameters.size + model.statistics.size) * sizeof(float))};
}

std::vector<ServerShard> Shards(std::span<const Server> servers, Bytes buffer) {
  std::vector<ServerShard> shards = MakeEvenServers(servers.size(), buffer, {});
  for (std::size_t i = 0; i < servers.size(); ++i) shards[i].rates = {servers[i].up, servers[i].down};
  return shards;
}

}  // namespace

SimulatedFleet::SimulatedFleet(SimulatedFleetOptions options)
    : options_(std::move(options)),
      shards_(Shards(options_.servers, BytesOf(*options_.charged))),
      charge_(*options_.charged),
      pool_(options_.threads, [](std::size_t) { SetComputeThreads(1); }) {
  TRIBUTARY_CHECK(options_.profiles.size() == options_.data.size());
  for (std::size_t i = 0; i < options_.profiles.size(); ++i) {
    TRIBUTARY_CHECK(options_.profiles[i].id.value == i);
    options_.profiles[i].samples = static_cast<std::int64_t>(options_.data[i].training.size());
  }
  for (DeviceProfile& profile : options_.profiles) {
    if (!options_.cut) break;
    const LocalData& data = options_.data[profile.id.value];
    profile.label_counts.assign(static_cast<std::size_t>(data.dataset->classes()), 0);
    for (const std::uint32_t sample : data.training) {
      ++profile.label_counts[static_cast<std::size_t>(data.dataset->labels()[sample])];
    }
  }
  for (const DeviceProfile& profile : options_.profiles) {
    streams_.emplace_back();
    if (profile.samples == 0) continue;
    const LocalData& data = options_.data[profile.id.value];
    if (!options_.own_streams.empty()) {
      const auto& own = options_.own_streams[profile.id.value];
      streams_.back() = std::make_unique<DeviceStream>(
          DeviceStream{SimulatedStream(Arrivals(own), options_.buffer), {}, own});
      continue;
    }
    std::optional<Playback> playback;
    if (profile.stream_rate.value > 0) {
      const RateSteps& steps = profile.stream_programme;
      auto programme = RateProgramme::Make(profile.stream_rate, steps.steps, steps.after);
      playback.emplace(
          PlayAtRate(std::move(programme).value(), data.training.size(), options_.seed, profile.id));
    } else if (options_.recorded_speed) {
      playback.emplace(PlayAsRecorded(*data.dataset, data.training, *options_.recorded_speed));
    }
    if (!playback) continue;
    streams_.back() = std::make_unique<DeviceStream>(DeviceStream{
        SimulatedStream(std::move(playback->arrivals), options_.buffer), std::move(playback->order), {}});
  }
  for (std::size_t i = 0; i < options_.threads; ++i) {
    workers_.emplace_back(options_.model, ExecutorOptions{.device = options_.device});
    if (options_.cut) testers_.emplace_back(options_.cut->whole, ExecutorOptions{.device = options_.device});
    if (options_.gossip) mixes_.emplace_back(*options_.model);
  }
}

SimulatedFleet::Played SimulatedFleet::Play(const Inquiry& inquiry, std::span<const Trouble> troubles,
                                            const std::function<Part(DeviceId)>& part_of,
                                            const CutWork& cut) const {
  const std::span<const DeviceId> participants = inquiry.participants;
  Played played;
  played.stream_waits.assign(participants.size(), Duration(0));
  for (std::size_t i = 0; i < participants.size(); ++i) {
    const DeviceProfile& profile = options_.profiles[participants[i].value];
    Part part = part_of(profile.id);
    part.work.slow = troubles[i].slow;
    // Nothing is taken for evaluations: held-out samples lie there.
    const DeviceStream* const stream = part.samples > 0 ? streams_[profile.id.value].get() : nullptr;
    const TimePoint arrival =
        stream != nullptr ? stream->stream.Ready(part.samples).value_or(kNever) : TimePoint(0);
    DeviceTask task;
    task.device = profile.id;
    task.start = clock_.Now();
    task.setup = profile.setup;
    task.round_trip = profile.round_trip;
    task.up = profile.uplink;
    task.down = profile.downlink;
    CutTask(part.plan, *charge_.unit_bytes(), task);
    if (part.answer) task.push = {*part.answer};
    if (part.bare) task.pull = {Bytes{0}};
    for (Bytes& bytes : task.push)
      bytes.value = std::llround(part.push_ratio * static_cast<double>(bytes.value));
    task.pull.front() += part.received;
    task.push.back() += part.shared;
    task.crossings = part.crossings;
    played.walks.push_back(WalkOf(inquiry, profile, part, task));
    task.compute = [&profile, &wait = played.stream_waits[i], arrival, walk = played.walks.back().get(),
                    lengths = LengthsOf(profile, part)](std::size_t index, TimePoint begin) {
      if (lengths.empty() || arrival == kNever) return kNever;
      const TimePoint start = index == 0 ? std::max(begin, arrival) : begin;
      wait += start - begin;
      if (walk != nullptr) return walk->Part(index, start);
      return profile.availability.Finish(start, lengths[index]).value_or(kNever);
    };
    task.fault = troubles[i].fault;
    played.tasks.push_back(std::move(task));
    played.parts.push_back(std::move(part));
  }
  played.times = SimulateRound(shards_, played.tasks, clock_.Now(), inquiry.deadline, inquiry.quorum, cut);
  return played;
}

StepPlanner* SimulatedFleet::PlannerOf(DeviceId device, const StepWork& work) {
  const TransferOptions& transfers = options_.transfers;
  const bool whole = transfers.strategy == TransferStrategy::kSequential && !transfers.largest_segment;
  if (whole || charge_.unit_bytes()->empty()) return nullptr;
  planners_.resize(options_.profiles.size());
  auto& planner = planners_[device.value];
  if (!planner) {
    StepCosts first = charge_.Costs(options_.profiles[device.value], work);
    if (const Compression* compression = CompressionOf(device)) first.push_ratio = compression->ratio;
    planner = std::make_unique<StepPlanner>(transfers, charge_.unit_bytes(), first);
  }
  return planner.get();
}

SimulatedFleet::Compression::Compression(const SimulatedFleetOptions& options)
    : compressor(options.compression, options.model, kLongestBlock), ratio(FirstRatio(options.compression)) {}

SimulatedFleet::Compression* SimulatedFleet::CompressionOf(DeviceId device) {
  if (options_.compression.kind == CompressionKind::kDense) return nullptr;
  compressions_.resize(options_.profiles.size());
  auto& compression = compressions_[device.value];
  if (!compression) {
    compression = std::make_unique<Compression>(options_);
  }
  return compression.get();
}

void SimulatedFleet::Counted(RoundId round) {
  for (const auto& compression : compressions_) {
    if (compression && compression->answered == round) compression->counted = round;
  }
  for (OwnModel& own : own_models_) {
    if (own.answered == round) own.counted = round;
  }
}

Status SimulatedFleet::Compress(Compression& compression, RoundId round, Update& update,
                                std::vector<float>& seen) const {
  seen.resize(update.parameters.size());
  TRIBUTARY_ASSIGN_OR_RETURN(const std::int64_t bytes,
                             compression.compressor.Apply(round, compression.counted, update, seen));
  compression.answered = round;
  compression.ratio =
      static_cast<double>(bytes + static_cast<std::int64_t>(update.statistics.size() * sizeof(float))) /
      static_cast<double>((update.parameters.size() + update.statistics.size()) * sizeof(float));
  update.parameters = seen;
  return OkStatus();
}

std::vector<std::uint32_t> SimulatedFleet::SharedWith(DeviceId device) const {
  std::vector<std::uint32_t> places;
  for (const SharedSample& sample : shared_) {
    if (sample.owner != device) places.push_back(sample.place);
  }
  return places;
}

void SimulatedFleet::ReadShared(const TrainAssignment& assignment, DeviceId device, Samples& samples,
                                Batch& batch) {
  const LocalData& data = options_.data[device.value];
  BatchKey key{assignment.seed, device, static_cast<std::uint64_t>(samples.first)};
  std::vector<std::uint32_t> places;
  if (DeviceStream* const stream = streams_[device.value].get()) {
    places = StreamSamples(data, *stream->order, samples.first, assignment.batch);
  } else {
    key.step = StepsOf(assignment, data).first;
    places = BatchSamples(data, assignment.batch, key);
  }
  samples.shared.assign(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(samples.share));
  places.insert(places.end(), samples.received.begin(), samples.received.end());
  GatherBatch(*data.dataset, places, assignment.augment, key, batch);
}

void SimulatedFleet::ReadFromStream(const TrainAssignment& assignment, DeviceId device, std::int64_t first,
                                    Batch& batch) {
  DeviceStream& stream = *streams_[device.value];
  const LocalData& data = options_.data[device.value];
  const BatchKey key{assignment.seed, device, static_cast<std::uint64_t>(first)};
  if (stream.own == nullptr)
    return ReadStream(data, *stream.order, first, assignment.batch, key, assignment.augment, batch);
  const auto samples = stream.own->Samples(first, assignment.batch, data.dataset->normalisation());
  TRIBUTARY_CHECK(samples.ok());  // Each of them fits, or it would not have arrived.
  std::vector<std::uint32_t> all(assignment.batch);
  std::iota(all.begin(), all.end(), 0U);
  GatherBatch(*samples, all, assignment.augment, key, batch);
}

TrainHooks SimulatedFleet::HooksOf(const TrainAssignment& assignment, DeviceId device, Samples& samples) {
  TrainHooks hooks;
  if (samples.share > 0 || !samples.received.empty()) {
    hooks.samples = samples.count + static_cast<std::int64_t>(samples.received.size());
    hooks.read = [this, &assignment, device, &samples](std::uint64_t, Batch& batch) {
      ReadShared(assignment, device, samples, batch);
    };
  } else if (streams_[device.value] != nullptr && assignment.epochs == 0) {
    hooks.samples = samples.count;
    hooks.read = [this, &assignment, device, &samples](std::uint64_t step, Batch& batch) {
      ReadFromStream(assignment, device, samples.first + static_cast<std::int64_t>(step * assignment.batch),
                     batch);
    };
  }
  if (samples.choice != nullptr) {
    hooks.keep = [&samples](std::uint64_t step) { return samples.choice->Atoms(step); };
    hooks.scaling = options_.dropout->scaling;
  }
  if (samples.cross) {
    hooks.cut = options_.cut->node;
    hooks.cross = samples.cross;
  }
  return hooks;
}

Status SimulatedFleet::TrainOne(Worker& worker, const TrainAssignment& assignment,
                                const SharedWeights& weights, Samples& samples, bool corrupt,
                                DeviceReport& report, UpdateSink& sink) {
  const std::size_t index = report.device.value;
  const LocalData& data = options_.data[index];
  const Bytes shared_bytes{static_cast<std::int64_t>(samples.share * RecordBytes(FormatOf(*data.dataset)))};
  const TrainHooks hooks = HooksOf(assignment, report.device, samples);
  auto trained = worker.Train(assignment, weights, report.device, data, hooks);
  Status refused = trained.ok() ? OkStatus() : std::move(trained).status();
  // At the cut it waits for the others, or it is gone by now.
  if (refused.code() == StatusCode::kCancelled || (refused.ok() && !samples.arrives)) return OkStatus();
  // What the device cannot do is its own outcome; what this machine cannot do ends the run.
  if (refused.code() == StatusCode::kResourceExhausted) return refused;
  if (refused.ok()) {
    report.metrics = trained->metrics;
    std::vector<float> changed;
    if (corrupt && !trained->update.parameters.empty()) {
      changed.assign(trained->update.parameters.begin(), trained->update.parameters.end());
      changed[changed.size() / 2] = std::numeric_limits<float>::quiet_NaN();
      trained->update.parameters = changed;
    }
    if (!compressions_.empty() && compressions_[index]) {
      refused = Compress(*compressions_[index], assignment.round, trained->update, changed);
      const double all = static_cast<double>(BytesOf(*options_.charged).value);
      report.up.value =
          std::llround(compressions_[index]->ratio * all) + shared_bytes.value + samples.crossed.value;
    }
    if (refused.ok()) refused = sink.Accept(report.device, trained->update);
  }
  if (!refused.ok()) {
    report.outcome = Outcome::kRefused;
    report.reason = refused.message();
  }
  return OkStatus();
}

Status SimulatedFleet::CheckStreams(std::span<const DeviceId> devices) const {
  for (const DeviceId device : devices) {
    const DeviceStream* const stream = streams_[device.value].get();
    if (stream == nullptr || stream->own == nullptr || stream->own->status().ok()) continue;
    return Status(stream->own->status()).WithContext("device " + std::to_string(device.value));
  }
  return OkStatus();
}

StatusOr<RoundReport> SimulatedFleet::Train(const RoundRequest& request, UpdateSink& sink) {
  if (options_.gossip) return TrainMeetings(request);
  const std::vector<Trouble> troubles =
      DrawTroubles(options_.disturbances, options_.profiles, request.participants, options_.seed,
                   request.round, clock_.Now());
  std::vector<TrainAssignment> assignments;
  for (std::size_t i = 0; i < request.participants.size(); ++i) {
    assignments.push_back(request.assignment);
    assignments.back().batch = request.BatchOf(i);
    if (!request.first.empty()) assignments.back().first = request.first[i];
  }
  const auto part = [&, next = std::size_t{0}](DeviceId device) mutable {
    const std::size_t place = next++;
    const TrainAssignment& assignment = assignments[place];
    SampleCounts samples = SamplesOf(assignment, options_.data[device.value]);
    const auto sample =
        static_cast<std::int64_t>(RecordBytes(FormatOf(*options_.data[device.value].dataset)));
    const auto received = static_cast<std::int64_t>(SharedWith(device).size());
    // A stream goes on where a data set would be at its end.
    const auto batch = static_cast<std::int64_t>(assignment.batch);
    if (streams_[device.value] && assignment.epochs == 0) samples = {assignment.steps * batch, batch, batch};
    // A batch at the end of the data may be shorter than asked.
    const std::size_t share = std::min(request.ShareOf(place), static_cast<std::size_t>(samples.first));
    std::vector<std::size_t> steps = StepSizes(assignment, device);
    if (steps.size() == 1) steps[0] += static_cast<std::size_t>(received);
    const auto of_work = [&](std::int64_t own) { return static_cast<double>(own + received); };
    const StepWork work{of_work(samples.first), of_work(samples.last),
                        kTrainingPasses * of_work(samples.all)};
    const StepPlanner* planner = PlannerOf(device, work);
    const Compression* compression = CompressionOf(device);
    return Part{work,
                samples.all,
                planner != nullptr ? planner->plan() : charge_.Whole(),
                {},
                false,
                compression != nullptr ? compression->ratio : 1,
                share,
                Bytes{received * sample},
                Bytes{static_cast<std::int64_t>(share) * sample},
                CrossingsOf(assignment, device),
                std::move(steps)};
  };
  TRIBUTARY_CHECK(options_.cut.has_value() == (request.server != nullptr));
  const Played played = Play(request, troubles, part, CutWorkOf(request, assignments));
  const RoundTimes& times = played.times;
  TRIBUTARY_RETURN_IF_ERROR(CheckStreams(request.participants));
  RoundReport report{times.start, times.end, {}};
  std::vector<Samples> samples(times.devices.size());
  for (std::size_t i = 0; i < times.devices.size(); ++i) {
    const DeviceId device = request.participants[i];
    const Part& mine = played.parts[i];
    const StepCosts costs = charge_.Costs(options_.profiles[device.value], mine.work);
    const ThinWalk* walk = played.walks[i].get();
    const Duration between = walk != nullptr ? walk->between() : FromSeconds(costs.between);
    report.devices.push_back(ReportOf(times.devices[i], played.stream_waits[i], between, times));
    if (times.devices[i].pull_end) report.devices.back().injected += mine.received;
    samples[i] = {0,  mine.samples, SharedWith(device),          mine.share, {},
                  {}, true,         times.devices[i].crossed_up, {}};
    if (walk != nullptr && !walk->choice().chosen().empty()) {
      samples[i].choice = &walk->choice();
      report.devices.back().kept = {MeanMacs(walk->choice().menu(), walk->choice().chosen()),
                                    walk->choice().chosen()};
    }
    DeviceStream* const stream = streams_[device.value].get();
    if (stream != nullptr && times.devices[i].compute_end) {
      // One that would begin after the round's end is told before it does.
      const TimePoint begin = times.devices[i].parts[0].begin + played.stream_waits[i];
      if (begin <= times.end) samples[i].first = stream->stream.Take(mine.samples, begin);
    }
    if (times.devices[i].outcome != DeviceOutcome::kArrived) continue;
    report.devices.back().injected += mine.shared;
    if (StepPlanner* planner = PlannerOf(device, mine.work)) {
      report.devices.back().planned = FromSeconds(mine.plan.predicted);
      StepObservation seen =
          ObservationOf(times.devices[i], played.stream_waits[i], mine.plan, played.tasks[i], costs);
      seen.push_ratio = mine.push_ratio;
      planner->Observe(seen);
    }
  }

  const Status status = options_.cut
                            ? TrainCut(request, assignments, played, troubles, samples, report, sink)
                            : TrainAll(request, assignments, played, troubles, samples, report, sink);
  clock_.AdvanceTo(times.end);
  if (!status.ok()) return status;
  shared_.clear();
  for (std::size_t place = 0; place < report.devices.size(); ++place) {
    const DeviceReport& device = report.devices[place];
    if (device.outcome != Outcome::kApplied) continue;
    for (const std::uint32_t sample : samples[place].shared) shared_.push_back({device.device, sample});
  }
  for (std::size_t i = 0; i < report.devices.size(); ++i)
    ReportStream(times.end, samples[i], report.devices[i]);
  return report;
}

void SimulatedFleet::ReportStream(TimePoint end, const Samples& samples, DeviceReport& report) {
  DeviceStream* const stream = streams_[report.device.value].get();
  if (stream == nullptr) return;
  if (stream->own)
    stream->own->Forget(samples.first + (report.outcome == Outcome::kApplied ? samples.count : 0));
  stream->stream.Observe(end);
  report.stream.emplace();
  report.stream->rate = stream->stream.rate();
  report.stream->buffered = stream->stream.Buffered(end);
  report.stream->dropped = stream->stream.dropped();
  if (report.outcome != Outcome::kApplied) return;
  report.stream->first = samples.first;
  report.stream->last = samples.first + samples.count - 1;
}

Status SimulatedFleet::TrainAll(const RoundRequest& request, std::span<const TrainAssignment> assignments,
                                const Played& played, std::span<const Trouble> troubles,
                                std::vector<Samples>& samples, RoundReport& report, UpdateSink& sink) {
  std::vector<std::size_t> arrived;
  for (std::size_t i = 0; i < assignments.size(); ++i) {
    if (played.times.devices[i].outcome == DeviceOutcome::kArrived) arrived.push_back(i);
  }
  return pool_.Run(arrived.size(), [&](std::size_t worker, std::size_t job) -> Status {
    const std::size_t place = arrived[job];
    return TrainOne(workers_[worker], assignments[place], request.weights, samples[place],
                    troubles[place].corrupt, report.devices[place], sink);
  });
}

std::optional<SamplesPerSecond> SimulatedFleet::StreamRate(DeviceId device) const {
  return streams_[device.value] ? streams_[device.value]->stream.rate() : std::nullopt;
}

std::vector<DeviceId> SimulatedFleet::Answering(const Inquiry& inquiry,
                                                const std::function<double(DeviceId)>& passes, Bytes answer,
                                                bool bare) {
  const auto part = [&](DeviceId device) {
    const double all = passes(device);
    return Part{{.first = all, .passes = all}, 0, charge_.Whole(), answer, bare, 1};
  };
  const RoundTimes times = Play(inquiry, std::vector<Trouble>(inquiry.participants.size()), part).times;
  clock_.AdvanceTo(times.end);
  std::vector<DeviceId> answering;
  for (const DeviceTimes& device : times.devices) {
    if (device.outcome == DeviceOutcome::kArrived) answering.push_back(device.device);
  }
  return answering;
}

StatusOr<EvaluationTotals> SimulatedFleet::Evaluate(const EvaluateAssignment& assignment,
                                                    const Inquiry& inquiry) {
  const auto passes = [&](DeviceId device) {
    return static_cast<double>(options_.data[device.value].held_out.size());
  };
  const std::vector<DeviceId> answering = Answering(inquiry, passes, kSmallMessage);
  std::vector<EvaluationTotals> each(answering.size());
  TRIBUTARY_RETURN_IF_ERROR(pool_.Run(answering.size(), [&](std::size_t worker, std::size_t job) -> Status {
    const LocalData& data = options_.data[answering[job].value];
    TRIBUTARY_ASSIGN_OR_RETURN(each[job], workers_[worker].Evaluate(assignment, inquiry.weights, data));
    return OkStatus();
  }));
  // In the order of the participants, not of the threads: the same bits each time.
  EvaluationTotals totals;
  for (const EvaluationTotals& device : each) totals += device;
  return totals;
}

StatusOr<Moments> SimulatedFleet::Calibrate(const CalibrateAssignment& assignment, const Inquiry& inquiry) {
  const auto passes = [&](DeviceId) {
    return static_cast<double>(assignment.steps) * static_cast<double>(assignment.batch);
  };
  const Bytes answer{static_cast<std::int64_t>(2 * options_.charged->statistics.size * sizeof(double))};
  const std::vector<DeviceId> answering = Answering(inquiry, passes, answer);
  Moments totals(options_.model->statistics.size);
  constexpr std::size_t kAtOnce = 32;  // so that memory does not grow with the fleet
  for (std::size_t begin = 0; begin < answering.size(); begin += kAtOnce) {
    const auto some = std::span(answering).subspan(begin, std::min(kAtOnce, answering.size() - begin));
    std::vector<Moments> each(some.size());
    TRIBUTARY_RETURN_IF_ERROR(pool_.Run(some.size(), [&](std::size_t worker, std::size_t job) -> Status {
      const LocalData& data = options_.data[some[job].value];
      TRIBUTARY_ASSIGN_OR_RETURN(each[job],
                                 workers_[worker].Calibrate(assignment, inquiry.weights, some[job], data));
      return OkStatus();
    }));
    for (const Moments& device : each) totals += device;
  }
  return totals;
}

StatusOr<EvaluationTotals> SimulatedFleet::EvaluateCentrally(const Dataset& dataset,
                                                             const SharedWeights& weights) {
  return EvaluateInParts(pool_, options_.cut ? testers_ : workers_, dataset, weights);
}

}  // namespace tributary
