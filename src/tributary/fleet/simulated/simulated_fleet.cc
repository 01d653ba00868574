#include "tributary/fleet/simulated/simulated_fleet.h"

#include <algorithm>
#include <utility>

#include "tributary/base/check.h"
#include "tributary/fleet/simulated/gossip_round.h"

namespace tributary::inline simulated {
namespace {

constexpr Bytes kSmallMessage{256};  // an answer without weights

SimulatedFleetOptions WithSamples(SimulatedFleetOptions options) {
  TRIBUTARY_CHECK(options.profiles.size() == options.data.size());
  TRIBUTARY_CHECK(options.cut.has_value() == options.training.cut.has_value());
  for (std::size_t i = 0; i < options.profiles.size(); ++i) {
    DeviceProfile& profile = options.profiles[i];
    TRIBUTARY_CHECK(profile.id.value == i);
    profile.samples = static_cast<std::int64_t>(options.data[i].training.size());
    if (options.cut) profile.label_counts = ClassCounts(options.data[i]);
  }
  return options;
}

}  // namespace

SimulatedFleet::SimulatedFleet(SimulatedFleetOptions options)
    : options_(WithSamples(std::move(options))), clock_(options_), threads_(options_) {
  devices_.reserve(options_.profiles.size());
  for (const DeviceProfile& profile : options_.profiles) devices_.emplace_back(options_, profile.id);
}

std::optional<SamplesPerSecond> SimulatedFleet::StreamRate(DeviceId device) const {
  const SimulatedStream* const stream = devices_[device.value].stream();
  return stream != nullptr ? stream->rate() : std::nullopt;
}

std::vector<DevicePart> SimulatedFleet::TrainingParts(const WorkOrder& order) {
  std::vector<Trouble> troubles = DrawTroubles(options_.disturbances, options_.profiles, order.participants,
                                               options_.seed, order.round, clock_.clock().Now());
  std::vector<DevicePart> parts(order.participants.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    DevicePart& part = parts[i];
    part.device = &devices_[order.participants[i].value];
    part.trouble = std::move(troubles[i]);
    part.assignment = order.training();
    part.assignment.batch = order.BatchOf(i);
    if (!order.first.empty()) part.assignment.first = order.first[i];
    for (const SharedSample& sample : shared_) {
      if (sample.owner != order.participants[i]) part.received.push_back(sample.place);
    }
    if (!options_.gossip) clock_.Ask(order.ShareOf(i), part);
  }
  return parts;
}

// Evaluation, calibration and collection are not disturbed.
std::vector<DevicePart> SimulatedFleet::PartsOf(const WorkOrder& order) {
  if (std::holds_alternative<TrainAssignment>(order.work)) return TrainingParts(order);
  const auto* const calibrate = std::get_if<CalibrateAssignment>(&order.work);
  const bool collects = std::holds_alternative<CollectAssignment>(order.work);
  std::vector<DevicePart> parts(order.participants.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    DevicePart& part = parts[i];
    part.device = &devices_[order.participants[i].value];
    double passes = 0;  // forward, in samples
    part.answer = kSmallMessage;
    if (calibrate != nullptr) {
      passes = static_cast<double>(calibrate->steps) * static_cast<double>(calibrate->batch);
      part.answer = Bytes{static_cast<std::int64_t>(2 * options_.charged->statistics.size * sizeof(double))};
    } else if (collects) {
      part.answer = BytesOf(*options_.charged);
      part.bare = true;
    } else {
      passes = static_cast<double>(part.device->data().held_out.size());
    }
    part.work = {.first = passes, .passes = passes};
    part.plan = clock_.charge().Whole();
  }
  return parts;
}

Status SimulatedFleet::Dispatch(WorkOrder order, UpdateSink* sink) {
  TRIBUTARY_CHECK(!open_);
  const bool trains = std::holds_alternative<TrainAssignment>(order.work);
  TRIBUTARY_CHECK((trains && options_.cut.has_value()) == (order.server != nullptr));
  Open open{std::move(order), sink, {}, {}, {}};
  open.parts = PartsOf(open.order);
  if (trains && options_.gossip) {
    open.timeline = PlayMeetings(open.order, clock_, BytesOf(*options_.charged), open.parts, open.gossip);
  } else {
    open.timeline = clock_.Play(open.order, open.parts);
  }
  if (trains) {
    for (const DevicePart& part : open.parts) TRIBUTARY_RETURN_IF_ERROR(part.device->CheckStream());
  }
  open_ = std::move(open);
  return OkStatus();
}

StatusOr<FleetEvent> SimulatedFleet::Next(std::optional<TimePoint> timer) {
  return open_->timeline.Next(timer, clock_.clock());
}

StatusOr<RoundReport> SimulatedFleet::Close() {
  TRIBUTARY_CHECK(open_.has_value());
  Open open = *std::exchange(open_, std::nullopt);
  const Busy times{open.timeline.start, clock_.clock().Now()};
  const bool trains = std::holds_alternative<TrainAssignment>(open.order.work);
  RoundReport report{times.begin, times.end, std::move(open.gossip), {}, {}};
  if (!trains || !options_.gossip) {
    for (DevicePart& part : open.parts) {
      CloseAt(times.end, part.times);
      // Only training updates plans.
      report.devices.push_back(trains ? clock_.Report(times, part)
                                      : ReportOf(part.times, Duration(0), Duration(0), times));
    }
  }
  Status status;
  if (trains) status = Train(open, report);
  if (std::holds_alternative<EvaluateAssignment>(open.order.work)) status = Evaluate(open, report);
  if (std::holds_alternative<CalibrateAssignment>(open.order.work)) status = Calibrate(open, report);
  if (std::holds_alternative<CollectAssignment>(open.order.work)) status = Collect(open, report);
  if (!status.ok()) return status;
  return report;
}

void SimulatedFleet::Commit(RoundId round) {
  for (SimulatedDevice& device : devices_) device.CommitRound(round);
}

void SimulatedFleet::RollBack(std::span<const DeviceId> quarantined) {
  for (SimulatedDevice& device : devices_) device.StartAnew();
  for (const DeviceId device : quarantined) options_.profiles[device.value].samples = 0;
  quarantined_ += quarantined.size();
  shared_.clear();
}

Status SimulatedFleet::Train(Open& open, RoundReport& report) {
  Status status;
  if (options_.gossip) {
    status = TrainMeetings(open.order, threads_, open.parts, report.devices);
  } else {
    for (DevicePart& part : open.parts) {
      SimulatedStream* const stream = part.device->stream();
      if (stream == nullptr || !part.times.compute_end) continue;
      // A device that would begin after the order's end is told before.
      const TimePoint begin = part.times.parts[0].begin + part.stream_wait;
      if (begin <= report.end) part.first = stream->Take(part.samples, begin);
    }
    status = options_.cut ? threads_.TrainSplit(open.order, open.parts, report.devices, *open.sink)
                          : threads_.Train(open.order, open.parts, report.devices, *open.sink);
  }
  TRIBUTARY_RETURN_IF_ERROR(status);
  shared_.clear();
  for (std::size_t i = 0; i < open.parts.size(); ++i) {
    DevicePart& part = open.parts[i];
    DeviceReport& device = report.devices[i];
    if (device.outcome == Outcome::kApplied) {
      for (const std::uint32_t sample : part.shared) shared_.push_back({device.device, sample});
    }
    part.device->ReportStream(report.end, part.first, part.samples, device);
  }
  return OkStatus();
}

Status SimulatedFleet::Collect(Open& open, RoundReport& report) {
  for (DeviceReport& answer : report.devices) {
    const SimulatedDevice& device = devices_[answer.device.value];
    if (answer.outcome != Outcome::kApplied) continue;
    if (device.counted_model() == nullptr) {
      answer.outcome = Outcome::kLost;
      answer.reason = "it has no model yet";
      continue;
    }
    const SharedWeights model = device.counted_model()->After(device.counted());
    const Update update{model.parameters, model.statistics, 1};
    TRIBUTARY_RETURN_IF_ERROR(
        open.sink->Take(WorkOf(answer.device), update.pieces()).WithContext(NameUpdate(answer.device)));
  }
  return OkStatus();
}

Status SimulatedFleet::Evaluate(Open& open, RoundReport& report) {
  const auto& assignment = std::get<EvaluateAssignment>(open.order.work);
  std::vector<EvaluationTotals> each(open.parts.size());
  TRIBUTARY_RETURN_IF_ERROR(threads_.ForEach(each.size(), [&](std::size_t thread, std::size_t i) -> Status {
    if (!open.parts[i].arrives()) return OkStatus();
    const LocalData& data = open.parts[i].device->data();
    TRIBUTARY_ASSIGN_OR_RETURN(each[i],
                               threads_.worker(thread).Evaluate(assignment, open.order.weights, data));
    return OkStatus();
  }));
  // In the order of the participants, not of the threads, for identical bits.
  for (const EvaluationTotals& device : each) report.totals += device;
  return OkStatus();
}

Status SimulatedFleet::Calibrate(Open& open, RoundReport& report) {
  const auto& assignment = std::get<CalibrateAssignment>(open.order.work);
  report.moments = Moments(options_.training.model->statistics.size);
  constexpr std::size_t kAtOnce = 32;  // bounds memory
  for (std::size_t begin = 0; begin < open.parts.size(); begin += kAtOnce) {
    const auto some = std::span(open.parts).subspan(begin, std::min(kAtOnce, open.parts.size() - begin));
    std::vector<std::optional<Moments>> each(some.size());
    TRIBUTARY_RETURN_IF_ERROR(threads_.ForEach(some.size(), [&](std::size_t thread, std::size_t i) -> Status {
      if (!some[i].arrives()) return OkStatus();
      const SimulatedDevice& device = *some[i].device;
      TRIBUTARY_ASSIGN_OR_RETURN(
          each[i], threads_.worker(thread).Calibrate(assignment, open.order.weights, device.profile().id,
                                                     device.data()));
      return OkStatus();
    }));
    for (const std::optional<Moments>& device : each) {
      if (device) report.moments += *device;
    }
  }
  return OkStatus();
}

StatusOr<EvaluationTotals> SimulatedFleet::EvaluateCentrally(const Dataset& dataset,
                                                             const SharedWeights& weights) {
  return threads_.Evaluate(dataset, weights);
}

StatusOr<std::vector<float>> SimulatedFleet::TrainCentrally(const TrainAssignment& assignment,
                                                            const SharedWeights& weights,
                                                            const LocalData& data) {
  return threads_.TrainOwnUpdate(assignment, weights, data);
}

}  // namespace tributary::inline simulated
