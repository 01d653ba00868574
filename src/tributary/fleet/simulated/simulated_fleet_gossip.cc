// Rounds of devices that have models of their own and average them with their neighbours'.

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "tributary/base/check.h"
#include "tributary/fleet/simulated/event_queue.h"
#include "tributary/fleet/simulated/meeting_timeline.h"
#include "tributary/fleet/simulated/simulated_fleet.h"

namespace tributary {
namespace {

constexpr double kLongestCompute = 1e9;  // seconds

Bytes ModelBytes(const Model& model) {
  return Bytes{static_cast<std::int64_t>((model.parameters.size + model.statistics.size) * sizeof(float))};
}

Outcome OutcomeOf(const Fault& fault) {
  return std::holds_alternative<CrashesInUpload>(fault) ? Outcome::kCrashed : Outcome::kLost;
}

}  // namespace

// One participant, from the clock to the average.
struct SimulatedFleet::MeetingDevice {
  TrainAssignment assignment;
  Samples samples;
  bool corrupt = false;
  bool computes = false;  // gets to the end of its local steps
  bool sends = false;     // what it sends gets there
  bool stays = false;     // it is still there for the average
  bool sound = false;     // its training gave a model
};

std::vector<SimulatedFleet::MeetingDevice> SimulatedFleet::PlayMeetings(const RoundRequest& request,
                                                                        RoundReport& report) {
  const TimePoint start = clock_.Now();
  const std::size_t count = request.participants.size();
  const std::vector<Trouble> troubles = DrawTroubles(
      options_.disturbances, options_.profiles, request.participants, options_.seed, request.round, start);
  std::vector<MeetingDevice> devices(count);
  std::vector<MeetingTask> tasks(count);
  std::vector<Busy> computing(count);
  std::map<DeviceId, std::size_t> places;
  for (std::size_t i = 0; i < count; ++i) {
    const DeviceProfile& profile = options_.profiles[request.participants[i].value];
    places[profile.id] = i;
    MeetingDevice& device = devices[i];
    device.assignment = request.assignment;
    device.assignment.batch = request.BatchOf(i);
    device.samples.count = SamplesOf(device.assignment, options_.data[profile.id.value]).all;
    DeviceStream* const stream = device.assignment.epochs == 0 ? streams_[profile.id.value].get() : nullptr;
    if (stream != nullptr) {
      device.samples.count = device.assignment.steps * static_cast<std::int64_t>(device.assignment.batch);
    }
    const Fault& fault = troubles[i].fault;
    device.corrupt = troubles[i].corrupt;
    device.stays = std::holds_alternative<NoFault>(fault) || std::holds_alternative<LosesUpdate>(fault);
    device.sends = std::holds_alternative<NoFault>(fault);
    tasks[i] = {profile.setup, profile.round_trip, profile.uplink, profile.downlink, kNever, 1};
    if (const auto* crash = std::get_if<CrashesInUpload>(&fault)) tasks[i].sends = crash->fraction;
    if (std::holds_alternative<Vanishes>(fault) || std::holds_alternative<Absent>(fault)) continue;
    // The coordinator's word to begin, and then the samples.
    const TimePoint told = start + profile.setup + profile.round_trip / 2;
    const TimePoint arrival =
        stream != nullptr ? stream->stream.Ready(device.samples.count).value_or(kNever) : TimePoint(0);
    const double seconds = kTrainingPasses * static_cast<double>(device.samples.count) * charge_.macs() *
                           troubles[i].slow / profile.compute.value;
    if (arrival == kNever || !(seconds < kLongestCompute)) continue;
    const TimePoint begin = std::max(told, arrival);
    const auto end = profile.availability.Finish(begin, FromSeconds(seconds));
    if (!end) continue;
    if (stream != nullptr) device.samples.first = stream->stream.Take(device.samples.count, begin);
    device.computes = true;
    tasks[i].computed = *end;
    computing[i] = {begin, *end};
  }
  std::vector<MeetingFlow> flows;
  for (std::size_t i = 0; i < count; ++i) {
    for (const Meeting& meeting : request.meetings[i]) {
      const auto peer = places.find(meeting.peer);
      TRIBUTARY_CHECK(peer != places.end() && peer->second != i);
      // Nothing is sent to one that is known to be gone.
      if (devices[i].computes && devices[peer->second].computes) flows.push_back({peer->second, i});
    }
  }
  const Bytes size = ModelBytes(*options_.charged);
  const MeetingTimes times = SimulateMeetings(tasks, flows, size);
  std::vector<TimePoint> sent(count), received(count);
  report.start = report.end = start;
  for (std::size_t i = 0; i < count; ++i) {
    sent[i] = received[i] = computing[i].end;
    report.devices.push_back({.device = request.participants[i]});
  }
  for (std::size_t f = 0; f < flows.size(); ++f) {
    const auto [from, to] = flows[f];
    sent[from] = std::max(sent[from], times.ends[f]);
    received[to] = std::max(received[to], times.ends[f]);
    const Bytes moved{std::llround(static_cast<double>(size.value) * tasks[from].sends)};
    report.devices[from].up += moved;
    report.devices[to].down += moved;
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (!devices[i].computes) continue;
    const DeviceProfile& profile = options_.profiles[request.participants[i].value];
    const TimePoint done = devices[i].stays ? std::max(sent[i], received[i]) : sent[i];
    report.end = std::max(report.end, done + profile.setup + profile.round_trip / 2);
  }
  for (std::size_t i = 0; i < count; ++i) {
    DeviceReport& mine = report.devices[i];
    if (!devices[i].stays || !devices[i].computes) {
      mine.outcome = OutcomeOf(troubles[i].fault);
      mine.reason = "gone in round " + std::to_string(request.round.value);
    } else {
      mine.outcome = Outcome::kApplied;
    }
    if (!devices[i].computes) {
      mine.wait = report.end - report.start;
      continue;
    }
    mine.compute = computing[i].end - computing[i].begin;
    mine.push = sent[i] - computing[i].end;
    mine.pull = devices[i].stays ? std::max(received[i] - sent[i], Duration(0)) : Duration(0);
    mine.wait = report.end - report.start - mine.compute - mine.push - mine.pull;
  }
  return devices;
}

StatusOr<RoundReport> SimulatedFleet::TrainMeetings(const RoundRequest& request) {
  TRIBUTARY_CHECK(request.meetings.size() == request.participants.size());
  RoundReport report;
  std::vector<MeetingDevice> devices = PlayMeetings(request, report);
  TRIBUTARY_RETURN_IF_ERROR(CheckStreams(request.participants));
  own_models_.resize(options_.profiles.size());
  const auto own = [&](std::size_t place) -> OwnModel& {
    return own_models_[request.participants[place].value];
  };
  TRIBUTARY_RETURN_IF_ERROR(pool_.Run(devices.size(), [&](std::size_t worker, std::size_t i) -> Status {
    MeetingDevice& device = devices[i];
    if (!device.computes) return OkStatus();
    OwnModel& mine = own(i);
    if (!mine.model) mine.model = std::make_unique<GossipModel>(options_.model, *options_.gossip);
    mine.model->Begin(request.round, mine.counted, request.weights);
    const DeviceId id = request.participants[i];
    auto trained = mine.model->Train(workers_[worker], device.assignment, id, options_.data[id.value],
                                     HooksOf(device.assignment, id, device.samples));
    // What the device cannot do is its own outcome; what this machine cannot do ends the run.
    if (trained.status().code() == StatusCode::kResourceExhausted) return trained.status();
    device.sound = trained.ok();
    if (trained.ok()) {
      report.devices[i].metrics = trained->metrics;
    } else {
      report.devices[i].outcome = Outcome::kRefused;
      report.devices[i].reason = trained.status().message();
    }
    return OkStatus();
  }));
  std::map<DeviceId, std::size_t> places;
  for (std::size_t i = 0; i < devices.size(); ++i) places[request.participants[i]] = i;
  TRIBUTARY_RETURN_IF_ERROR(pool_.Run(devices.size(), [&](std::size_t worker, std::size_t i) -> Status {
    if (!devices[i].sound || !devices[i].stays) return OkStatus();
    ModelMix& mix = mixes_[worker];
    double most = 0;
    for (const Meeting& meeting : request.meetings[i]) most += meeting.weight;
    mix.Begin(most);
    report.devices[i].met = 0;
    for (const Meeting& meeting : request.meetings[i]) {
      const std::size_t peer = places.at(meeting.peer);
      if (!devices[peer].sound || !devices[peer].sends) continue;
      SharedWeights offered = own(peer).model->offered();
      std::vector<float> wrong;
      if (devices[peer].corrupt) {
        wrong.assign(offered.parameters.begin(), offered.parameters.end());
        wrong[wrong.size() / 2] = std::numeric_limits<float>::quiet_NaN();
        offered.parameters = wrong;
      }
      // One that cannot be averaged is as if it had not come.
      if (mix.Add(meeting.weight, offered).ok()) ++*report.devices[i].met;
    }
    const Status ended = own(i).model->End(mix);
    if (ended.ok()) {
      own(i).answered = request.round;
    } else {
      report.devices[i].outcome = Outcome::kRefused;
      report.devices[i].reason = ended.message();
    }
    return OkStatus();
  }));
  clock_.AdvanceTo(report.end);
  for (std::size_t i = 0; i < devices.size(); ++i)
    ReportStream(report.end, devices[i].samples, report.devices[i]);
  return report;
}

StatusOr<std::size_t> SimulatedFleet::Collect(const Inquiry& inquiry, UpdateSink& sink) {
  std::size_t collected = 0;
  const auto nothing = [](DeviceId) { return 0.0; };
  for (const DeviceId device : Answering(inquiry, nothing, ModelBytes(*options_.charged), true)) {
    if (device.value >= own_models_.size() || own_models_[device.value].counted.value == 0) continue;
    const SharedWeights model = own_models_[device.value].model->After(own_models_[device.value].counted);
    TRIBUTARY_RETURN_IF_ERROR(sink.Accept(device, {model.parameters, model.statistics, 1}));
    ++collected;
  }
  return collected;
}

}  // namespace tributary
