#include "tributary/fleet/simulated/round_clock.h"

#include <algorithm>
#include <cmath>

#include "tributary/data/record.h"
#include "tributary/fleet/simulated/event_queue.h"

namespace tributary::inline simulated {
namespace {

std::vector<ServerShard> Shards(std::span<const Server> servers, Bytes buffer) {
  std::vector<ServerShard> shards = MakeEvenServers(servers.size(), buffer, {});
  for (std::size_t i = 0; i < servers.size(); ++i) shards[i].rates = {servers[i].up, servers[i].down};
  return shards;
}

// In samples, before step i (from 1): twice the last batch, for its backward pass, and once this batch.
double PassesBetween(std::span<const std::size_t> steps, std::size_t i) {
  return 2 * static_cast<double>(steps[i - 1]) + static_cast<double>(steps[i]);
}

}  // namespace

RoundClock::RoundClock(const SimulatedFleetOptions& options)
    : options_(options),
      shards_(Shards(options.servers, BytesOf(*options.charged))),
      charge_(*options.charged) {}

bool RoundClock::plans() const {
  const TransferOptions& transfers = options_.transfers;
  const bool whole = transfers.strategy == TransferStrategy::kSequential && !transfers.largest_segment;
  return !whole && !charge_.unit_bytes()->empty();
}

void RoundClock::Ask(std::size_t share, DevicePart& part) {
  SimulatedDevice& device = *part.device;
  const TrainAssignment& assignment = part.assignment;
  part.sample_bytes = Bytes{static_cast<std::int64_t>(RecordBytes(FormatOf(*device.data().dataset)))};
  SampleCounts samples = SamplesOf(assignment, device.data());
  // A stream continues where a data set would end.
  const auto batch = static_cast<std::int64_t>(assignment.batch);
  if (part.streams()) samples = {assignment.steps * batch, batch, batch};
  part.samples = samples.all;
  // The last batch of an epoch may be shorter.
  part.share = std::min(share, static_cast<std::size_t>(samples.first));
  if (options_.cut || options_.training.sub_networks)
    part.steps = StepSizes(assignment, device.data(), part.streams(), part.received.size());
  const auto of_work = [&](std::int64_t own) {
    return static_cast<double>(own + static_cast<std::int64_t>(part.received.size()));
  };
  part.work = {of_work(samples.first), of_work(samples.last), kTrainingPasses * of_work(samples.all)};
  device.PrepareToCompress();
  part.push_ratio = device.push_ratio();
  if (plans() && !device.planner) {
    StepCosts first = charge_.Costs(device.profile(), part.work);
    first.push_ratio = device.push_ratio();
    device.planner = std::make_unique<StepPlanner>(options_.transfers, charge_.unit_bytes(), first);
  }
  part.plan = device.planner ? device.planner->plan() : charge_.Whole();
  if (!options_.cut) return;
  const SplitWire& wire = options_.training.cut->wire;
  for (int i = 0; i < wire.crossings() * assignment.steps; ++i) {
    const std::size_t size = part.steps[static_cast<std::size_t>(wire.StepOf(i))];
    part.crossings.push_back({Bytes{static_cast<std::int64_t>(wire.BytesUp(i, size))},
                              Bytes{static_cast<std::int64_t>(wire.Down(i).BytesOf(size))}});
  }
}

DeviceTask RoundClock::TaskOf(const WorkOrder& order, DevicePart& part) const {
  const DeviceProfile& profile = part.device->profile();
  // Evaluations take nothing from the stream: held-out samples are already there.
  const SimulatedStream* const stream = part.samples > 0 ? part.device->stream() : nullptr;
  const TimePoint arrival = stream != nullptr ? stream->Ready(part.samples).value_or(kNever) : TimePoint(0);
  DeviceTask task;
  task.device = profile.id;
  task.start = clock_.Now();
  task.setup = profile.setup;
  task.round_trip = profile.round_trip;
  task.up = profile.uplink;
  task.down = profile.downlink;
  SegmentTask(part.plan, *charge_.unit_bytes(), task);
  if (part.answer) task.push = {*part.answer};
  if (part.bare) task.pull = {Bytes{0}};
  for (Bytes& bytes : task.push)
    bytes.value = std::llround(part.push_ratio * static_cast<double>(bytes.value));
  task.pull.front() += part.bytes_received();
  task.push.back() += part.bytes_shared();
  task.crossings = part.crossings;
  part.walk = WalkOf(order, part, task);
  task.compute = [&profile, &part, arrival, lengths = LengthsOf(part)](std::size_t index, TimePoint begin) {
    if (lengths.empty() || arrival == kNever) return kNever;
    const TimePoint start = index == 0 ? std::max(begin, arrival) : begin;
    part.stream_wait += start - begin;
    if (part.walk != nullptr) return part.walk->Part(index, start);
    return profile.availability.Finish(start, lengths[index]).value_or(kNever);
  };
  task.fault = part.trouble.fault;
  return task;
}

OrderTimeline RoundClock::Play(const WorkOrder& order, std::span<DevicePart> parts) const {
  std::vector<DeviceTask> tasks;
  for (DevicePart& part : parts) {
    part.work.slow = part.trouble.slow;
    tasks.push_back(TaskOf(order, part));
  }
  const SplitWork cut = order.server != nullptr ? SplitWorkOf(*order.server, parts) : SplitWork{};
  OrderTimeline timeline = PlayDevices(shards_, tasks, clock_.Now(), order.deadline, order.quorum, cut);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    parts[i].task = std::move(tasks[i]);
    parts[i].times = std::move(timeline.devices[i]);
  }
  timeline.devices.clear();
  return timeline;
}

DeviceReport RoundClock::Report(const Busy& open, DevicePart& part) {
  SimulatedDevice& device = *part.device;
  const StepCosts costs = charge_.Costs(device.profile(), part.work);
  const Duration between = part.walk ? part.walk->between() : FromSeconds(costs.between);
  DeviceReport report = ReportOf(part.times, part.stream_wait, between, open);
  if (part.times.pull_end) report.injected += part.bytes_received();
  if (part.walk && !part.walk->choice().chosen().empty()) report.kept = KeptOf(part.walk->choice());
  if (!part.arrives()) return report;
  report.injected += part.bytes_shared();
  if (!device.planner) return report;
  report.planned = FromSeconds(part.plan.predicted);
  StepObservation seen = ObservationOf(part.times, part.stream_wait, part.plan, part.task, costs);
  seen.push_ratio = part.push_ratio;
  device.planner->Observe(seen);
  return report;
}

std::vector<Duration> RoundClock::LengthsOf(const DevicePart& part) const {
  const StepCosts costs = charge_.Costs(part.device->profile(), part.work);
  std::vector<Duration> lengths = PartsOf(costs, part.plan);
  if (part.crossings.size() < 2 || lengths.empty()) return lengths;
  if (part.steps.size() > 1) {
    // Between two crossings a device goes back through its last batch and forward through its next.
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
  // Between two crossings the tail goes forward and back; everything else is in one segment each way.
  const auto sum = [&](const std::vector<double>& times, bool tail) {
    double seconds = 0;
    for (std::size_t unit = 0; unit < times.size(); ++unit) {
      const bool behind = options_.charged->units[unit].nodes.front() > options_.training.cut->node;
      if (behind == tail) seconds += times[unit];
    }
    return FromSeconds(seconds);
  };
  return {sum(costs.forward, false), sum(costs.forward, true) + sum(costs.backward, true),
          sum(costs.backward, false)};
}

SplitWork RoundClock::SplitWorkOf(const SplitServer& server, std::span<const DevicePart> parts) const {
  const SimulatedFleetOptions::Cut& cut = *options_.cut;
  double early = 0, late = 0;  // forward, per sample
  for (NodeIndex node = 1; node < cut.rest->graph.size(); ++node)
    (node < cut.waits_from ? early : late) += static_cast<double>(cut.rest->costs[node].macs.value);
  const int crossings = options_.training.cut->wire.crossings();  // per step
  const auto time = [rate = cut.compute.value](double macs) { return FromSeconds(macs / rate); };
  const auto samples_of = [parts, crossings](std::size_t place, int crossing) {
    return static_cast<double>(parts[place].steps[static_cast<std::size_t>(crossing / crossings)]);
  };
  SplitWork work{.waits = server.waits()};
  work.each = [=, waits = work.waits](std::size_t place, int crossing) {
    // Forward with a step's first crossing, back with the last. Waiting batches go back together.
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

// Worst case of the upload: all participants send at once.
Duration RoundClock::LongestPush(const DeviceTask& task, std::size_t participants) const {
  double servers = 0;
  for (const Server& server : options_.servers) servers += server.up.value;
  const double rate = std::min(task.up.value, servers / static_cast<double>(participants));
  Bytes bytes{0};
  for (const Bytes some : task.push) bytes += some;
  const Duration setups = static_cast<std::int64_t>(task.push.size()) * (task.setup + task.round_trip / 2);
  return setups + FromSeconds(std::min(1e9, 8 * static_cast<double>(bytes.value) / rate));
}

std::unique_ptr<SubnetworkWalk> RoundClock::WalkOf(const WorkOrder& order, const DevicePart& part,
                                                   const DeviceTask& task) const {
  if (!options_.training.sub_networks || part.steps.empty()) return nullptr;
  const DeviceProfile& profile = part.device->profile();
  SubnetworkWalk::Work work{charge_.Costs(profile, part.work), {}, part.plan, kNever};
  const double per_sample = kTrainingPasses * charge_.macs() * part.work.slow / profile.compute.value;
  for (const std::size_t samples : part.steps)
    work.seconds.push_back(per_sample * static_cast<double>(samples));
  if (order.deadline)
    work.until = clock_.Now() + *order.deadline - LongestPush(task, order.participants.size());
  return std::make_unique<SubnetworkWalk>(
      profile.availability, std::move(work),
      RoundChoice(*options_.training.sub_networks->menu, {options_.seed, profile.id, order.round}));
}

}  // namespace tributary::inline simulated
