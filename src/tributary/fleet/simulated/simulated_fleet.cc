#include "tributary/fleet/simulated/simulated_fleet.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "tributary/base/check.h"
#include "tributary/device/evaluate_in_parts.h"
#include "tributary/engine/compute.h"
#include "tributary/fleet/simulated/event_queue.h"

namespace tributary {
namespace {

// A training pass over a sample costs its forward pass and twice as much again to go back.
constexpr double kTrainingPasses = 3;
// An answer without weights: a few numbers.
constexpr Bytes kSmallMessage{256};

Bytes BytesOf(const Model& model) {
  return Bytes{static_cast<std::int64_t>((model.parameters.size + model.statistics.size) * sizeof(float))};
}

std::vector<ServerShard> Shards(std::span<const Server> servers, Bytes buffer) {
  std::vector<ServerShard> shards = MakeEvenServers(servers.size(), buffer, {});
  for (std::size_t i = 0; i < servers.size(); ++i) shards[i].rates = {servers[i].up, servers[i].down};
  return shards;
}

Outcome OutcomeOf(DeviceOutcome outcome) {
  switch (outcome) {
    case DeviceOutcome::kArrived: return Outcome::kApplied;
    case DeviceOutcome::kLate: return Outcome::kLate;
    case DeviceOutcome::kCrashed: return Outcome::kCrashed;
    case DeviceOutcome::kAbsent:
    case DeviceOutcome::kVanished:
    case DeviceOutcome::kLost:
    case DeviceOutcome::kStuck: return Outcome::kLost;
  }
  return Outcome::kLost;
}

std::string ReasonOf(DeviceOutcome outcome) {
  switch (outcome) {
    case DeviceOutcome::kArrived: return "";
    case DeviceOutcome::kLate: return "it arrived after the round had ended";
    case DeviceOutcome::kCrashed: return "it broke off in the middle of its upload";
    case DeviceOutcome::kAbsent: return "it was not there";
    case DeviceOutcome::kVanished: return "it vanished";
    case DeviceOutcome::kLost: return "its update was lost on the way";
    case DeviceOutcome::kStuck: return "it never finished";
  }
  return "";
}

// A device's time from the round's start to its end, divided into what it did: whatever it did not get to has no time,
// and what it would have done after the end does not count.
DeviceReport ReportOf(const DeviceTimes& times, Duration stream_wait, const RoundTimes& round) {
  const auto until = [&](std::optional<TimePoint> moment, TimePoint after) {
    return std::max(after, std::min(moment.value_or(times.settled), round.end));
  };
  const TimePoint pulled = until(times.pull_end, round.start);
  const TimePoint computed = until(times.compute_end, pulled);
  const TimePoint pushed = until(times.push_end, computed);
  stream_wait = std::min(stream_wait, computed - pulled);
  DeviceReport report;
  report.device = times.device;
  report.outcome = OutcomeOf(times.outcome);
  report.reason = ReasonOf(times.outcome);
  report.pull = pulled - round.start;
  report.compute = computed - pulled - stream_wait;
  report.push = pushed - computed;
  report.wait = stream_wait + (round.end - pushed);
  report.down = times.pulled;
  report.up = times.pushed;
  return report;
}

}  // namespace

SimulatedFleet::SimulatedFleet(SimulatedFleetOptions options)
    : options_(std::move(options)),
      shards_(Shards(options_.servers, BytesOf(*options_.charged))),
      model_bytes_(BytesOf(*options_.charged)),
      pool_(options_.threads, [](std::size_t) { SetComputeThreads(1); }) {
  TRIBUTARY_CHECK(options_.profiles.size() == options_.data.size());
  for (std::size_t i = 0; i < options_.profiles.size(); ++i) {
    TRIBUTARY_CHECK(options_.profiles[i].id.value == i);
    options_.profiles[i].samples = static_cast<std::int64_t>(options_.data[i].training.size());
  }
  consumed_.assign(options_.profiles.size(), 0);
  for (std::size_t i = 0; i < options_.threads; ++i) workers_.emplace_back(options_.model);
}

SimulatedFleet::Played SimulatedFleet::Play(const Inquiry& inquiry, std::span<const Trouble> troubles,
                                            const std::function<Work(DeviceId)>& work, Bytes push) const {
  const std::span<const DeviceId> participants = inquiry.participants;
  constexpr double kLongest = 9e9;  // what the clock can hold, in seconds
  const double macs = static_cast<double>(TotalMacs(options_.charged->costs).value);
  Played played;
  played.stream_waits.assign(participants.size(), Duration(0));
  std::vector<DeviceTask> tasks;
  for (std::size_t i = 0; i < participants.size(); ++i) {
    const DeviceProfile& profile = options_.profiles[participants[i].value];
    const Work mine = work(profile.id);
    const double seconds = mine.passes * macs / profile.compute.value * troubles[i].slow;
    const double arrival = profile.stream_rate.value > 0
                               ? (consumed_[profile.id.value] + mine.new_samples) / profile.stream_rate.value
                               : 0;
    DeviceTask task;
    task.device = profile.id;
    task.start = clock_.Now();
    task.setup = profile.setup;
    task.round_trip = profile.round_trip;
    task.up = profile.uplink;
    task.down = profile.downlink;
    task.pull = model_bytes_;
    task.push = push;
    task.compute = [&profile, &wait = played.stream_waits[i], seconds, arrival](TimePoint pulled) {
      if (seconds > kLongest || arrival > kLongest) return kNever;
      const TimePoint start = std::max(pulled, FromSeconds(arrival));
      wait = start - pulled;
      return profile.availability.Finish(start, FromSeconds(seconds)).value_or(kNever);
    };
    task.fault = troubles[i].fault;
    tasks.push_back(std::move(task));
  }
  played.times = SimulateRound(shards_, tasks, clock_.Now(), inquiry.deadline, inquiry.quorum);
  return played;
}

StatusOr<RoundReport> SimulatedFleet::Train(const RoundRequest& request, UpdateSink& sink) {
  const std::vector<Trouble> troubles =
      DrawTroubles(options_.disturbances, options_.profiles, request.participants, options_.seed, request.round,
                   clock_.Now());
  const auto work = [&](DeviceId device) {
    const auto samples = static_cast<double>(SamplesOf(request.assignment, options_.data[device.value]));
    return Work{kTrainingPasses * samples, samples};
  };
  const Played played = Play(request, troubles, work, model_bytes_);
  const RoundTimes& times = played.times;
  RoundReport report{times.start, times.end, {}};
  std::vector<std::size_t> arrived;
  for (std::size_t i = 0; i < times.devices.size(); ++i) {
    const DeviceId device = request.participants[i];
    report.devices.push_back(ReportOf(times.devices[i], played.stream_waits[i], times));
    if (times.devices[i].compute_end) consumed_[device.value] += work(device).new_samples;
    if (times.devices[i].outcome == DeviceOutcome::kArrived) arrived.push_back(i);
  }

  const Status status = pool_.Run(arrived.size(), [&](std::size_t worker, std::size_t job) -> Status {
    const std::size_t place = arrived[job];
    DeviceReport& device = report.devices[place];
    auto trained = workers_[worker].Train(request.assignment, request.weights, device.device,
                                          options_.data[device.device.value]);
    Status refused = trained.ok() ? OkStatus() : std::move(trained).status();
    // What the device cannot do is its own outcome; what this machine cannot do ends the run.
    if (refused.code() == StatusCode::kResourceExhausted) return refused;
    if (refused.ok()) {
      device.metrics = trained->metrics;
      std::vector<float> broken;
      if (troubles[place].corrupt) {
        broken.assign(trained->update.parameters.begin(), trained->update.parameters.end());
        broken[broken.size() / 2] = std::numeric_limits<float>::quiet_NaN();
        trained->update.parameters = broken;
      }
      refused = sink.Accept(device.device, trained->update);
    }
    if (!refused.ok()) {
      device.outcome = Outcome::kRefused;
      device.reason = refused.message();
    }
    return OkStatus();
  });
  clock_.AdvanceTo(times.end);
  if (!status.ok()) return status;
  return report;
}

std::vector<DeviceId> SimulatedFleet::Answering(const Inquiry& inquiry, const std::function<Work(DeviceId)>& work,
                                                Bytes answer) {
  const RoundTimes times = Play(inquiry, std::vector<Trouble>(inquiry.participants.size()), work, answer).times;
  clock_.AdvanceTo(times.end);
  std::vector<DeviceId> answering;
  for (const DeviceTimes& device : times.devices) {
    if (device.outcome == DeviceOutcome::kArrived) answering.push_back(device.device);
  }
  return answering;
}

StatusOr<EvaluationTotals> SimulatedFleet::Evaluate(const EvaluateAssignment& assignment, const Inquiry& inquiry) {
  const auto work = [&](DeviceId device) {
    return Work{static_cast<double>(options_.data[device.value].held_out.size()), 0};
  };
  const std::vector<DeviceId> answering = Answering(inquiry, work, kSmallMessage);
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
  const auto work = [&](DeviceId) {
    return Work{static_cast<double>(assignment.steps) * static_cast<double>(assignment.batch), 0};
  };
  const Bytes answer{static_cast<std::int64_t>(2 * options_.charged->statistics.size * sizeof(double))};
  const std::vector<DeviceId> answering = Answering(inquiry, work, answer);
  Moments totals(options_.model->statistics.size);
  constexpr std::size_t kAtOnce = 32;  // so that memory does not grow with the fleet
  for (std::size_t begin = 0; begin < answering.size(); begin += kAtOnce) {
    const auto some = std::span(answering).subspan(begin, std::min(kAtOnce, answering.size() - begin));
    std::vector<Moments> each(some.size());
    TRIBUTARY_RETURN_IF_ERROR(pool_.Run(some.size(), [&](std::size_t worker, std::size_t job) -> Status {
      const LocalData& data = options_.data[some[job].value];
      TRIBUTARY_ASSIGN_OR_RETURN(each[job], workers_[worker].Calibrate(assignment, inquiry.weights, some[job], data));
      return OkStatus();
    }));
    for (const Moments& device : each) totals += device;
  }
  return totals;
}

StatusOr<EvaluationTotals> SimulatedFleet::EvaluateCentrally(const Dataset& dataset, const SharedWeights& weights) {
  return EvaluateInParts(pool_, workers_, dataset, weights);
}

}  // namespace tributary
