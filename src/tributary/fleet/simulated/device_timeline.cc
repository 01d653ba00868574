#include "tributary/fleet/simulated/device_timeline.h"

#include <algorithm>
#include <cmath>

#include "tributary/base/check.h"
#include "tributary/fleet/simulated/event_queue.h"
#include "tributary/fleet/simulated/links.h"

namespace tributary {
namespace {

std::vector<ServerRates> RatesOf(std::span<const ServerShard> servers) {
  std::vector<ServerRates> rates;
  rates.reserve(servers.size());
  for (const ServerShard& server : servers) rates.push_back(server.rates);
  return rates;
}

TimePoint After(TimePoint time, Duration duration) {
  return duration < kNever - time ? time + duration : kNever;
}

Bytes TotalOf(std::span<const TransferPart> parts) {
  Bytes total{0};
  for (const TransferPart& part : parts) total += part.bytes;
  return total;
}

// Plays every device until it is settled or nothing more happens. When the round ends changes nothing in that, since
// nobody is told to stop, and is worked out afterwards.
class Round {
 public:
  Round(std::span<const ServerShard> servers, std::span<const DeviceTask> tasks, TimePoint start)
      : servers_(servers), queue_(clock_), links_(RatesOf(servers)) {
    clock_.AdvanceTo(start);
    devices_.reserve(tasks.size());
    for (const DeviceTask& task : tasks) {
      TRIBUTARY_CHECK(task.start >= start && task.setup >= Duration(0) && task.round_trip >= Duration(0));
      devices_.push_back(
          {task, {.device = task.device, .settled = kNever}, links_.AddDevice(task.up, task.down)});
    }
    for (Device& device : devices_) Begin(device);
  }

  std::vector<DeviceTimes> Play() {
    while (true) {
      const std::optional<TimePoint> change = links_.NextChange();
      const std::optional<TimePoint> event = queue_.NextTime();
      // Links first: what arrives at the moment its sender vanishes has arrived.
      if (change && (!event || *change <= *event)) {
        clock_.AdvanceTo(*change);
        for (const Completion& completion : links_.AdvanceTo(*change)) {
          Moved(devices_[owners_[completion.transfer.value]]);
        }
      } else if (!queue_.RunNext()) {
        break;
      }
    }
    std::vector<DeviceTimes> times;
    times.reserve(devices_.size());
    for (Device& device : devices_) times.push_back(device.times);
    return times;
  }

 private:
  struct Device {
    const DeviceTask& task;
    DeviceTimes times;
    DeviceLinkId link;
    EventId next_step;                   // While something other than a transfer is under way.
    std::optional<TransferId> transfer;  // While one is.
    Bytes transfer_bytes{0};
  };

  Duration MessageTime(const Device& device) const { return device.task.setup + device.task.round_trip / 2; }

  void Begin(Device& device) {
    if (std::holds_alternative<Absent>(device.task.fault)) {
      device.times.outcome = DeviceOutcome::kAbsent;
      device.times.settled = clock_.Now();
      return;
    }
    if (const auto* vanishes = std::get_if<Vanishes>(&device.task.fault);
        vanishes && vanishes->at != kNever) {
      queue_.Schedule(std::max(vanishes->at, clock_.Now()), [this, &device] { Vanish(device); });
    }
    Step(device, After(device.task.start, MessageTime(device)), &Round::Pull);
  }

  // `step` is what the device does at `time`, unless it is gone by then.
  void Step(Device& device, TimePoint time, void (Round::*step)(Device&)) {
    if (time == kNever) return;
    device.next_step = queue_.Schedule(time, [this, &device, step] { (this->*step)(device); });
  }

  void Transfer(Device& device, Direction direction, std::span<const TransferPart> parts) {
    device.transfer = links_.Start(clock_.Now(), device.link, direction, parts);
    device.transfer_bytes = TotalOf(parts);
    owners_.push_back(static_cast<std::size_t>(&device - devices_.data()));
  }

  void Pull(Device& device) {
    device.times.pull_begin = clock_.Now();
    Transfer(device, Direction::kDown, SplitOverServers(servers_, device.task.pull));
  }

  void Computed(Device& device) {
    device.times.compute_end = clock_.Now();
    Step(device, After(clock_.Now(), MessageTime(device)), &Round::Push);
  }

  void Push(Device& device) {
    device.times.push_begin = clock_.Now();
    std::vector<TransferPart> parts = SplitOverServers(servers_, device.task.push);
    if (const auto* crashes = std::get_if<CrashesInUpload>(&device.task.fault)) {
      TRIBUTARY_CHECK(crashes->fraction >= 0 && crashes->fraction <= 1);
      for (TransferPart& part : parts) {
        part.bytes.value = std::llround(static_cast<double>(part.bytes.value) * crashes->fraction);
      }
    }
    Transfer(device, Direction::kUp, parts);
  }

  // The transfer in progress is complete.
  void Moved(Device& device) {
    const TimePoint now = clock_.Now();
    device.transfer.reset();
    if (!device.times.push_begin) {
      device.times.pull_end = now;
      device.times.pulled = device.transfer_bytes;
      const TimePoint done = device.task.compute ? device.task.compute(now) : now;
      TRIBUTARY_CHECK(done >= now);
      Step(device, done, &Round::Computed);
      return;
    }
    device.times.pushed = device.transfer_bytes;
    device.times.settled = now;
    if (std::holds_alternative<CrashesInUpload>(device.task.fault)) {
      device.times.outcome = DeviceOutcome::kCrashed;
      return;
    }
    device.times.push_end = now;
    device.times.outcome = std::holds_alternative<LosesUpdate>(device.task.fault) ? DeviceOutcome::kLost
                                                                                  : DeviceOutcome::kArrived;
  }

  void Vanish(Device& device) {
    if (device.times.settled != kNever) return;
    device.times.settled = clock_.Now();
    device.times.outcome = DeviceOutcome::kVanished;
    queue_.Cancel(device.next_step);
    if (!device.transfer) return;
    // A transfer complete by now was reported before this event ran.
    const std::optional<Bytes> moved = links_.Cancel(clock_.Now(), *device.transfer);
    TRIBUTARY_CHECK(moved.has_value());
    (device.times.push_begin ? device.times.pushed : device.times.pulled) = *moved;
  }

  const std::span<const ServerShard> servers_;
  VirtualClock clock_;
  EventQueue queue_;
  SharedLinks links_;
  std::vector<Device> devices_;
  std::vector<std::size_t> owners_;  // The device of each transfer.
};

// When the devices' round ends, and who is late for it.
void DecideEnd(TimePoint deadline, std::size_t quorum, RoundTimes& round) {
  std::vector<TimePoint> arrivals;
  TimePoint last = round.start;  // The last thing that happens.
  bool someone_is_stuck = false;
  for (const DeviceTimes& times : round.devices) {
    if (times.outcome == DeviceOutcome::kArrived) arrivals.push_back(times.settled);
    if (times.settled == kNever) {
      someone_is_stuck = true;
      for (const auto& moment : {times.pull_begin, times.pull_end, times.compute_end, times.push_begin}) {
        last = std::max(last, moment.value_or(last));
      }
    } else {
      last = std::max(last, times.settled);
    }
  }
  std::sort(arrivals.begin(), arrivals.end());

  const bool quorum_comes = arrivals.size() >= quorum;
  round.end = last;
  round.why = quorum_comes ? RoundEnd::kAllSettled : RoundEnd::kQuorumMissed;
  if (quorum_comes && deadline != kNever && (someone_is_stuck || last > deadline)) {
    const TimePoint quorum_at = quorum == 0 ? round.start : arrivals[quorum - 1];
    round.end = std::max(deadline, quorum_at);
    round.why = quorum_at > deadline ? RoundEnd::kQuorum : RoundEnd::kDeadline;
  }
  for (DeviceTimes& times : round.devices) {
    if (times.outcome != DeviceOutcome::kArrived) continue;
    if (times.settled > round.end) {
      times.outcome = DeviceOutcome::kLate;
    } else {
      ++round.arrived;
    }
  }
}

}  // namespace

RoundTimes SimulateRound(std::span<const ServerShard> servers, std::span<const DeviceTask> tasks, TimePoint start,
                         std::optional<Duration> deadline, std::size_t quorum) {
  TRIBUTARY_CHECK(!servers.empty() && (!deadline || *deadline >= Duration(0)));
  RoundTimes round{.start = start, .devices = Round(servers, tasks, start).Play()};
  DecideEnd(deadline ? After(start, *deadline) : kNever, quorum, round);
  return round;
}

}  // namespace tributary
