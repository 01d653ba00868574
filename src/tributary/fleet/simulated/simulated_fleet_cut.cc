#include <algorithm>

#include "tributary/fleet/simulated/simulated_fleet.h"

namespace tributary {
namespace {

// Over samples, before the i-th step, from 1: back through the last batch, which takes two, and forward through this one.
double PassesBetween(std::span<const std::size_t> steps, std::size_t i) {
  return 2 * static_cast<double>(steps[i - 1]) + static_cast<double>(steps[i]);
}

// Values as they come out at the other end.
StatusOr<std::vector<float>> Travelled(const CutWire::Form& form, std::span<const float> values) {
  std::vector<std::byte> bytes;
  TRIBUTARY_RETURN_IF_ERROR(AppendCut(form.precision, values, form.values, bytes));
  std::vector<float> seen(values.size());
  TRIBUTARY_RETURN_IF_ERROR(ReadCut(form.precision, bytes, form.values, seen));
  return seen;
}

}  // namespace

std::vector<std::size_t> SimulatedFleet::StepSizes(const TrainAssignment& assignment, DeviceId device) const {
  std::vector<std::size_t> sizes;
  if (!options_.cut && !options_.dropout) return sizes;
  // A stream goes on where a data set would be at its end.
  if (streams_[device.value] && assignment.epochs == 0) {
    sizes.assign(static_cast<std::size_t>(assignment.steps), assignment.batch);
    return sizes;
  }
  const std::uint64_t steps = StepsOf(assignment, options_.data[device.value]).count;
  for (std::uint64_t i = 0; i < steps; ++i) {
    sizes.push_back(SamplesAt(assignment, options_.profiles[device.value].samples, i));
  }
  return sizes;
}

std::vector<DeviceTask::Crossing> SimulatedFleet::CrossingsOf(const TrainAssignment& assignment,
                                                              DeviceId device) const {
  std::vector<DeviceTask::Crossing> crossings;
  if (!options_.cut) return crossings;
  const CutWire& wire = options_.cut->wire;
  const std::vector<std::size_t> sizes = StepSizes(assignment, device);
  for (int i = 0; i < wire.crossings() * assignment.steps; ++i) {
    const std::size_t batch = sizes[static_cast<std::size_t>(wire.StepOf(i))];
    crossings.push_back({Bytes{static_cast<std::int64_t>(wire.BytesUp(i, batch))},
                         Bytes{static_cast<std::int64_t>(wire.Down(i).BytesOf(batch))}});
  }
  return crossings;
}

std::vector<Duration> SimulatedFleet::LengthsOf(const DeviceProfile& profile, const Part& part) const {
  const StepCosts costs = charge_.Costs(profile, part.work);
  std::vector<Duration> lengths = PartsOf(costs, part.plan);
  if (part.crossings.size() < 2 || lengths.empty()) return lengths;
  if (part.steps.size() > 1) {
    // Between two crossings a device goes back through its last batch and forward through its next, so that what lies
    // before the last way back has a part for each.
    const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(part.plan.pull.size());
    double all = 0;
    for (std::size_t i = 1; i < part.steps.size(); ++i) all += PassesBetween(part.steps, i);
    std::vector<Duration> parts;
    for (std::size_t i = 1; i < part.steps.size(); ++i) {
      parts.push_back(FromSeconds(costs.between * PassesBetween(part.steps, i) / all));
      *middle -= std::min(*middle, parts.back());
    }
    lengths.insert(middle, parts.begin(), parts.end());
    return lengths;
  }
  // The tail goes forward and back between two crossings, and everything else is in one segment each way.
  const auto sum = [&](const std::vector<double>& times, bool tail) {
    double seconds = 0;
    for (std::size_t unit = 0; unit < times.size(); ++unit) {
      const bool behind = options_.charged->units[unit].nodes.front() > options_.cut->node;
      if (behind == tail) seconds += times[unit];
    }
    return FromSeconds(seconds);
  };
  return {sum(costs.forward, false), sum(costs.forward, true) + sum(costs.backward, true),
          sum(costs.backward, false)};
}

CutWork SimulatedFleet::CutWorkOf(const RoundRequest& request,
                                  std::span<const TrainAssignment> assignments) const {
  CutWork work;
  if (!options_.cut) return work;
  const SimulatedFleetOptions::Cut& cut = *options_.cut;
  double early = 0, late = 0;  // forward, for a sample
  for (NodeIndex node = 1; node < cut.rest->graph.size(); ++node) {
    (node < cut.waits_from ? early : late) += static_cast<double>(cut.rest->costs[node].macs.value);
  }
  const int crossings = cut.wire.crossings();  // of a step
  const auto time = [rate = cut.compute.value](double macs) { return FromSeconds(macs / rate); };
  std::vector<std::vector<std::size_t>> sizes;
  for (std::size_t i = 0; i < assignments.size(); ++i) {
    sizes.push_back(StepSizes(assignments[i], request.participants[i]));
  }
  const auto samples_of = [sizes = std::move(sizes), crossings](std::size_t place, int crossing) {
    return static_cast<double>(sizes[place][static_cast<std::size_t>(crossing / crossings)]);
  };
  work.waits = request.server->waits();
  work.each = [=, waits = work.waits](std::size_t place, int crossing) {
    // Forward with the first crossing of a step, back with the last. What waits goes back with the others.
    const bool forward = crossing % crossings == 0;
    const double passes = waits ? (forward ? 1 : 0) : crossings == 1 ? 3 : forward ? 1 : 2;
    return time(passes * early * samples_of(place, crossing));
  };
  work.all = [=](std::span<const std::size_t> places, int crossing) {
    double samples = 0;
    for (const std::size_t place : places) samples += samples_of(place, crossing);
    const double forward = crossing % crossings == 0 ? late : 0;
    const double back = (crossing + 1) % crossings == 0 ? 2 * (late + early) : 0;
    return time((forward + back) * samples);
  };
  return work;
}

// Devices come to the cut, where they may have to wait for each other. A device that waits is not kept in the middle of
// its pass, which would take a worker for each: it gives up there, and does its pass again, to the same bits, when there
// is a reply for it. Of a round of many steps it does those before again too, with the replies it had.
Status SimulatedFleet::TrainCut(const RoundRequest& request, std::span<const TrainAssignment> assignments,
                                const Played& played, std::span<const Trouble> troubles,
                                std::vector<Samples>& samples, RoundReport& report, UpdateSink& sink) {
  CutServer& server = *request.server;
  const CutWire& wire = options_.cut->wire;
  const int crossings = wire.crossings() * request.assignment.steps;
  const int runs = server.waits() ? crossings + 1 : 1;
  for (int run = 0; run < runs; ++run) {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < assignments.size(); ++i) {
      const DeviceTimes& times = played.times.devices[i];
      const auto needed = static_cast<std::size_t>(std::min(run + 1, crossings));
      const bool refused = report.devices[i].outcome == Outcome::kRefused;
      samples[i].arrives = times.outcome == DeviceOutcome::kArrived;
      if (!refused && (run + 1 == runs && runs > 1 ? samples[i].arrives : times.taken >= needed))
        places.push_back(i);
      samples[i].cross = [&, i](const CutBatch& batch) -> StatusOr<CutReply> {
        if (static_cast<std::size_t>(batch.crossing) >= played.times.devices[i].taken)
          return Cancelled("it is gone");
        if (server.Reply(i, batch.crossing) == nullptr) {
          TRIBUTARY_ASSIGN_OR_RETURN(const auto values, Travelled(wire.Up(batch.crossing), batch.values));
          TRIBUTARY_RETURN_IF_ERROR(server.Take(i, {batch.crossing, values, batch.labels}));
        }
        const CutReply* const reply = server.Reply(i, batch.crossing);
        if (reply == nullptr) return Cancelled("it waits for the others");
        TRIBUTARY_ASSIGN_OR_RETURN(auto values, Travelled(wire.Down(batch.crossing), reply->values));
        return CutReply{std::move(values), reply->loss, reply->correct};
      };
    }
    TRIBUTARY_RETURN_IF_ERROR(pool_.Run(places.size(), [&](std::size_t worker, std::size_t job) -> Status {
      const std::size_t place = places[job];
      return TrainOne(workers_[worker], assignments[place], request.weights, samples[place],
                      troubles[place].corrupt, report.devices[place], sink);
    }));
    if (run + 1 == runs) break;
    const Status closed = server.Close(run);
    if (closed.code() == StatusCode::kResourceExhausted) return closed;
    for (const std::size_t place : places) {
      if (server.Reply(place, run) != nullptr) continue;
      report.devices[place].outcome = Outcome::kRefused;
      report.devices[place].reason =
          closed.ok() ? "what it sent over the cut cannot be learnt from" : closed.message();
    }
  }
  return OkStatus();
}

}  // namespace tributary
