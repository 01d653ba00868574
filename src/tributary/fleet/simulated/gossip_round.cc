#include "tributary/fleet/simulated/gossip_round.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "tributary/base/check.h"
#include "tributary/fleet/simulated/event_queue.h"
#include "tributary/fleet/simulated/meeting_timeline.h"

namespace tributary::inline simulated {
namespace {

constexpr double kLongestCompute = 1e9;  // seconds

Outcome OutcomeOf(const Fault& fault) {
  return std::holds_alternative<CrashesInUpload>(fault) ? Outcome::kCrashed : Outcome::kLost;
}

void FindPeers(const WorkOrder& order, std::span<DevicePart> parts) {
  std::map<DeviceId, std::size_t> places;
  for (std::size_t i = 0; i < parts.size(); ++i) places[order.participants[i]] = i;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (const NeighbourWeight& neighbour : order.neighbours[i]) {
      const auto peer = places.find(neighbour.peer);
      TRIBUTARY_CHECK(peer != places.end() && peer->second != i);
      parts[i].peers.push_back(peer->second);
    }
  }
}

// The time of a device's local steps, if it completes them. Takes its samples from its stream.
std::optional<Busy> Compute(const RoundClock& clock, DevicePart& part) {
  const DeviceProfile& profile = part.device->profile();
  part.samples = SamplesOf(part.assignment, part.device->data()).all;
  SimulatedStream* const stream = part.streams() ? part.device->stream() : nullptr;
  if (stream != nullptr)
    part.samples = part.assignment.steps * static_cast<std::int64_t>(part.assignment.batch);
  const Fault& fault = part.trouble.fault;
  if (std::holds_alternative<Vanishes>(fault) || std::holds_alternative<NeverJoins>(fault)) return {};
  // The coordinator's message to begin, then the samples.
  const TimePoint told = clock.clock().Now() + profile.setup + profile.round_trip / 2;
  const TimePoint arrival = stream != nullptr ? stream->Ready(part.samples).value_or(kNever) : TimePoint(0);
  const double seconds = RoundClock::kTrainingPasses * static_cast<double>(part.samples) *
                         clock.charge().macs() * part.trouble.slow / profile.compute.value;
  if (arrival == kNever || !(seconds < kLongestCompute)) return {};
  const TimePoint begin = std::max(told, arrival);
  const auto end = profile.availability.Finish(begin, FromSeconds(seconds));
  if (!end) return {};
  if (stream != nullptr) part.first = stream->Take(part.samples, begin);
  return Busy{begin, *end};
}

}  // namespace

OrderTimeline PlayMeetings(const WorkOrder& order, const RoundClock& clock, Bytes model,
                           std::span<DevicePart> parts, std::vector<DeviceReport>& reports) {
  TRIBUTARY_CHECK(order.neighbours.size() == parts.size());
  FindPeers(order, parts);
  const std::size_t count = parts.size();
  std::vector<MeetingTask> tasks(count);
  std::vector<Busy> computing(count);
  std::vector<TimePoint> sent(count), received(count);
  for (std::size_t i = 0; i < count; ++i) {
    DevicePart& part = parts[i];
    const DeviceProfile& profile = part.device->profile();
    const Fault& fault = part.trouble.fault;
    part.sends = std::holds_alternative<NoFault>(fault);
    part.stays = part.sends || std::holds_alternative<LosesUpdate>(fault);
    tasks[i] = {profile.setup, profile.round_trip, profile.uplink, profile.downlink, kNever, 1};
    if (const auto* crash = std::get_if<CrashesInUpload>(&fault)) tasks[i].sends = crash->fraction;
    const std::optional<Busy> busy = Compute(clock, part);
    part.computes = busy.has_value();
    if (!busy) continue;
    tasks[i].computed = busy->end;
    computing[i] = *busy;
    sent[i] = received[i] = busy->end;
  }
  std::vector<MeetingFlow> flows;
  for (std::size_t i = 0; i < count; ++i) {
    for (const std::size_t peer : parts[i].peers) {
      // Nothing is sent to a device that is known to be gone.
      if (parts[i].computes && parts[peer].computes) flows.push_back({peer, i});
    }
  }
  const MeetingTimes times = SimulateMeetings(tasks, flows, model);
  OrderTimeline timeline;
  timeline.start = timeline.idle = clock.clock().Now();
  for (const DeviceId device : order.participants) reports.emplace_back().device = device;
  for (std::size_t f = 0; f < flows.size(); ++f) {
    const auto [from, to] = flows[f];
    sent[from] = std::max(sent[from], times.ends[f]);
    received[to] = std::max(received[to], times.ends[f]);
    const Bytes moved{std::llround(static_cast<double>(model.value) * tasks[from].sends)};
    reports[from].up += moved;
    reports[to].down += moved;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const DeviceProfile& profile = parts[i].device->profile();
    const TimePoint done = parts[i].stays ? std::max(sent[i], received[i]) : sent[i];
    const TimePoint told = parts[i].computes ? done + profile.setup + profile.round_trip / 2 : timeline.start;
    const bool completes = parts[i].computes && parts[i].stays;
    timeline.events.push_back(
        {told, completes ? FleetEvent::Kind::kCompleted : FleetEvent::Kind::kFailed, profile.id});
    timeline.idle = std::max(timeline.idle, told);
  }
  std::ranges::stable_sort(timeline.events, {}, &FleetEvent::at);
  for (std::size_t i = 0; i < count; ++i) {
    DeviceReport& mine = reports[i];
    if (!parts[i].stays || !parts[i].computes) {
      mine.outcome = OutcomeOf(parts[i].trouble.fault);
      mine.reason = "gone in round " + std::to_string(order.round.value);
    } else {
      mine.outcome = Outcome::kApplied;
    }
    if (!parts[i].computes) {
      mine.wait = timeline.idle - timeline.start;
      continue;
    }
    mine.compute = computing[i].end - computing[i].begin;
    mine.push = sent[i] - computing[i].end;
    mine.pull = parts[i].stays ? std::max(received[i] - sent[i], Duration(0)) : Duration(0);
    mine.wait = timeline.idle - timeline.start - mine.compute - mine.push - mine.pull;
  }
  return timeline;
}

Status TrainMeetings(const WorkOrder& order, DeviceThreads& threads, std::span<DevicePart> parts,
                     std::span<DeviceReport> reports) {
  const auto refuse = [&](std::size_t i, const Status& status) {
    reports[i].outcome = Outcome::kRefused;
    reports[i].reason = status.message();
  };
  TRIBUTARY_RETURN_IF_ERROR(threads.ForEach(parts.size(), [&](std::size_t thread, std::size_t i) -> Status {
    if (!parts[i].computes) return OkStatus();
    const auto trained = threads.TrainOwn(thread, order, parts[i]);
    if (trained.status().code() == StatusCode::kResourceExhausted) return trained.status();
    parts[i].sound = trained.ok();
    if (trained.ok()) {
      reports[i].metrics = trained->metrics;
    } else {
      refuse(i, trained.status());
    }
    return OkStatus();
  }));
  return threads.ForEach(parts.size(), [&](std::size_t thread, std::size_t i) -> Status {
    if (!parts[i].sound || !parts[i].stays) return OkStatus();
    const std::vector<NeighbourWeight>& neighbours = order.neighbours[i];
    double most = 0;
    for (const NeighbourWeight& neighbour : neighbours) most += neighbour.weight;
    reports[i].met = 0;
    const auto meet = [&](const GossipModel::TakeModel& take) {
      for (std::size_t m = 0; m < neighbours.size(); ++m) {
        const DevicePart& peer = parts[parts[i].peers[m]];
        if (!peer.sound || !peer.sends) continue;
        SharedWeights offered = peer.device->own().offered();
        std::vector<float> wrong;
        if (peer.trouble.changes_update())
          offered.parameters = wrong = Changed(peer.trouble, offered.parameters);
        // A model that cannot be averaged is left out.
        if (take(neighbours[m].weight, offered).ok()) ++*reports[i].met;
      }
      return OkStatus();
    };
    const Status ended = parts[i].device->own().Average(threads.mix(thread), most, meet);
    if (ended.ok()) {
      parts[i].device->Answered(order.round);
    } else {
      refuse(i, ended);
    }
    return OkStatus();
  });
}

}  // namespace tributary::inline simulated
