#include "tributary/fleet/simulated/device_timeline.h"

#include <cmath>

#include "tributary/base/check.h"
#include "tributary/fleet/simulated/event_queue.h"

namespace tributary::inline simulated {
namespace {

std::vector<ServerRates> RatesOf(std::span<const ServerShard> servers) {
  std::vector<ServerRates> rates;
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

// Plays every device until it is settled or nothing more happens.
class Player {
 public:
  Player(std::span<const ServerShard> servers, std::span<const DeviceTask> tasks, TimePoint start,
         std::optional<Duration> deadline, std::size_t quorum, const SplitWork& cut)
      : servers_(servers),
        patience_(deadline),
        quorum_(quorum),
        cut_(cut),
        queue_(clock_),
        links_(RatesOf(servers)) {
    timeline_.start = start;
    clock_.AdvanceTo(start);
    server_free_ = start;
    devices_.reserve(tasks.size());
    for (const DeviceTask& task : tasks) {
      TRIBUTARY_CHECK(task.start >= start && task.setup >= Duration(0) && task.round_trip >= Duration(0));
      TRIBUTARY_CHECK(!task.pull.empty() && !task.push.empty());
      devices_.push_back(
          {task, {.device = task.device, .settled = kNever}, links_.AddDevice(task.up, task.down)});
    }
    for (Device& device : devices_) Begin(device);
    WaitUntil(patience_ ? After(start, *patience_) : kNever);
  }

  OrderTimeline Play() {
    while (true) {
      const std::optional<TimePoint> change = links_.NextChange();
      const std::optional<TimePoint> event = queue_.NextTime();
      // Links first: what arrives exactly when its sender vanishes has arrived.
      if (change && (!event || *change <= *event)) {
        clock_.AdvanceTo(*change);
        for (const Completion& completion : links_.AdvanceTo(*change))
          Moved(devices_[owners_[completion.transfer.value]]);
      } else if (!queue_.RunNext() && !Release()) {
        break;
      }
    }
    timeline_.idle = LastMoment();
    for (Device& device : devices_) {
      if (device.times.settled == kNever) BreakOff(device, kNever);
      timeline_.devices.push_back(std::move(device.times));
    }
    return std::move(timeline_);
  }

 private:
  struct Device {
    const DeviceTask& task;
    DeviceTimes times;
    DeviceLinkId link;
    // Link state. Pushes follow the last pull, and crossings lie between: one message at a time.
    enum class Leg { kPull, kUp, kDown, kPush } leg = Leg::kPull;
    EventId message;                     // during its set-up
    std::optional<TransferId> transfer;  // while its bytes move
    Bytes transfer_bytes{0};
    bool sending = false;  // either of these two
    TimePoint message_begin{0};
    // Processor state.
    EventId part;
    bool computing = false;
    TimePoint part_begin{0};

    std::size_t crossings() const { return task.crossings.size(); }
    // Number of parts before the first of the push.
    std::size_t parts_before_push() const {
      return task.pull.size() + (task.crossings.empty() ? 0 : task.crossings.size() - 1);
    }
    bool settled() const { return times.settled != kNever; }
  };

  void Begin(Device& device) {
    if (std::holds_alternative<NeverJoins>(device.task.fault)) {
      device.times.outcome = DeviceOutcome::kAbsent;
      device.times.settled = clock_.Now();
      return Tell(FleetEvent::Kind::kFailed, device.task.device);
    }
    if (const auto* vanishes = std::get_if<Vanishes>(&device.task.fault);
        vanishes && vanishes->at != kNever) {
      queue_.Schedule(std::max(vanishes->at, clock_.Now()), [this, &device] { Vanish(device); });
    }
    Message(device, device.task.start, Device::Leg::kPull);
  }

  void Tell(FleetEvent::Kind kind, DeviceId device = {}) {
    timeline_.events.push_back({clock_.Now(), kind, device});
  }

  // The last time of anything that is waited for.
  TimePoint LastMoment() const {
    TimePoint last = timeline_.events.empty() ? timeline_.start : timeline_.events.back().at;
    for (const Device& device : devices_) {
      const DeviceTimes& times = device.times;
      if (times.outcome == DeviceOutcome::kLate || device.settled()) continue;
      for (const auto& moment : {times.pull_begin, times.pull_end, times.compute_end, times.push_begin})
        last = std::max(last, moment.value_or(last));
      for (const auto* crossings : {&times.ups, &times.downs}) {
        for (const Busy& busy : *crossings) last = std::max(last, busy.end);
      }
      const bool crosses = device.leg == Device::Leg::kUp || device.leg == Device::Leg::kDown;
      if (device.sending && crosses) last = std::max(last, device.message_begin);
    }
    return last;
  }

  // A message occupies the device's link from `time` on.
  void Message(Device& device, TimePoint time, Device::Leg leg) {
    device.sending = true;
    device.leg = leg;
    device.message_begin = time;
    const TimePoint flow = After(time, device.task.setup + device.task.round_trip / 2);
    if (flow == kNever) return;
    device.message = queue_.Schedule(flow, [this, &device] { Flow(device); });
  }

  // The set-up is over; the bytes can move.
  void Flow(Device& device) {
    if (device.leg == Device::Leg::kPull) return Pull(device);
    if (device.leg == Device::Leg::kPush) return Push(device);
    const auto [up, down] = device.task.crossings[device.times.downs.size()];
    const bool rises = device.leg == Device::Leg::kUp;
    Transfer(device, rises ? Direction::kUp : Direction::kDown,
             SplitOverServers(servers_, rises ? up : down));
  }

  // A batch of a crossing has arrived at the coordinator.
  void Arrived(Device& device) {
    const auto index = static_cast<std::size_t>(&device - devices_.data());
    const std::size_t crossing = device.times.downs.size();
    if (device.times.outcome == DeviceOutcome::kLate) return Settle(device, DeviceOutcome::kLate);
    const Duration work = cut_.each ? cut_.each(index, static_cast<int>(crossing)) : Duration(0);
    server_free_ = After(std::max(server_free_, clock_.Now()), work);
    if (!cut_.waits) {
      ++device.times.taken;
      return Reply(device, server_free_);
    }
    waiting_.push_back(index);
    ReleaseIfAll();
  }

  void WaitUntil(TimePoint time) {
    until_ = time;
    if (cut_.waits && time != kNever) queue_.Schedule(time, [this] { ReleaseIfAll(); });
  }

  // If no device is awaited any longer, or time is up, all waiting devices get their reply.
  void ReleaseIfAll() {
    if (!cut_.waits || waiting_.empty()) return;
    const auto expected = std::ranges::count_if(
        devices_, [&](const Device& device) { return !device.settled() && device.times.taken == closed_; });
    const bool all = waiting_.size() == static_cast<std::size_t>(expected);
    const bool in_time = clock_.Now() < until_ || waiting_.size() < quorum_;
    if (all || !in_time) Release();
  }

  // Closes the crossing with the waiting devices; false if there are none.
  bool Release() {
    if (waiting_.empty()) return false;
    std::sort(waiting_.begin(), waiting_.end());
    for (const std::size_t index : waiting_) ++devices_[index].times.taken;
    for (Device& device : devices_) {
      if (device.settled() || device.times.taken != closed_) continue;
      device.times.outcome = DeviceOutcome::kLate;
      Tell(FleetEvent::Kind::kFailed, device.task.device);
    }
    Tell(FleetEvent::Kind::kReleased);
    const TimePoint begin = std::max(server_free_, clock_.Now());
    server_free_ = After(begin, cut_.all ? cut_.all(waiting_, static_cast<int>(closed_)) : Duration(0));
    ++closed_;
    WaitUntil(patience_ ? After(clock_.Now(), *patience_) : kNever);
    for (const std::size_t index : std::exchange(waiting_, {})) Reply(devices_[index], server_free_);
    return true;
  }

  void Reply(Device& device, TimePoint time) {
    if (time == kNever) return;
    queue_.Schedule(time, [this, &device] {
      if (!device.settled()) Message(device, clock_.Now(), Device::Leg::kDown);
    });
  }

  void Settle(Device& device, DeviceOutcome outcome) {
    device.times.settled = clock_.Now();
    // The fate of a device left behind does not matter.
    if (device.times.outcome != DeviceOutcome::kLate) {
      device.times.outcome = outcome;
      Tell(outcome == DeviceOutcome::kArrived ? FleetEvent::Kind::kCompleted : FleetEvent::Kind::kFailed,
           device.task.device);
    }
    ReleaseIfAll();
  }

  void Transfer(Device& device, Direction direction, std::span<const TransferPart> parts) {
    device.transfer = links_.Start(clock_.Now(), device.link, direction, parts);
    device.transfer_bytes = TotalOf(parts);
    owners_.push_back(static_cast<std::size_t>(&device - devices_.data()));
  }

  void Pull(Device& device) {
    if (!device.times.pull_begin) device.times.pull_begin = clock_.Now();
    Transfer(device, Direction::kDown,
             SplitOverServers(servers_, device.task.pull[device.times.pulls.size()]));
  }

  void Push(Device& device) {
    if (!device.times.push_begin) device.times.push_begin = clock_.Now();
    std::vector<TransferPart> parts =
        SplitOverServers(servers_, device.task.push[device.times.pushes.size()]);
    if (std::holds_alternative<CrashesInUpload>(device.task.fault)) {
      const double fraction = std::min(1.0, UntilCrash(device));
      for (TransferPart& part : parts)
        part.bytes.value = std::llround(static_cast<double>(part.bytes.value) * fraction);
    }
    Transfer(device, Direction::kUp, parts);
  }

  // If it crashes in its upload: fraction of the current segment sent before; above 1 if not in this one.
  double UntilCrash(const Device& device) const {
    const double fraction = std::get<CrashesInUpload>(device.task.fault).fraction;
    TRIBUTARY_CHECK(fraction >= 0 && fraction <= 1);
    double all = 0;
    for (const Bytes bytes : device.task.push) all += static_cast<double>(bytes.value);
    const auto segment = static_cast<double>(device.task.push[device.times.pushes.size()].value);
    const double left = fraction * all - static_cast<double>(device.times.pushed.value);
    const bool last = device.times.pushes.size() + 1 == device.task.push.size();
    if (last && left >= segment) return 1;
    return left < segment ? left / segment : 2;
  }

  // Begins the next part of the work if its weights are there and the processor is free.
  void Compute(Device& device) {
    const std::size_t part = device.times.parts.size();
    const std::size_t pulls = device.task.pull.size();
    if (device.computing || part == device.parts_before_push() + device.task.push.size()) return;
    if (device.times.pulls.size() < std::min(part + 1, pulls)) return;
    const std::size_t needed = part < pulls ? 0 : std::min(part - pulls + 1, device.crossings());
    if (device.times.downs.size() < needed) return;
    device.computing = true;
    const TimePoint now = device.part_begin = clock_.Now();
    const TimePoint done = device.task.compute ? device.task.compute(part, now) : now;
    TRIBUTARY_CHECK(done >= now);
    if (done == kNever) return;
    device.part = queue_.Schedule(done, [this, &device, now] {
      device.computing = false;
      device.times.parts.push_back({now, clock_.Now()});
      if (device.times.parts.size() == device.parts_before_push() + device.task.push.size())
        device.times.compute_end = clock_.Now();
      SendNext(device);
      Compute(device);
    });
  }

  // Begins the next message if the link is free and a segment is ready.
  void SendNext(Device& device) {
    if (device.sending) return;
    if (device.times.pulls.size() < device.task.pull.size())
      return Message(device, clock_.Now(), Device::Leg::kPull);
    // A crossing ends before the next part of the work begins.
    const std::size_t crossed = device.times.ups.size();
    if (crossed < device.crossings()) {
      if (device.times.parts.size() == device.task.pull.size() + crossed)
        Message(device, clock_.Now(), Device::Leg::kUp);
      return;
    }
    const std::size_t pushed = device.times.pushes.size();
    if (pushed < device.task.push.size() && device.times.parts.size() > device.parts_before_push() + pushed)
      Message(device, clock_.Now(), Device::Leg::kPush);
  }

  std::vector<Busy>& LegOf(Device& device) {
    DeviceTimes& times = device.times;
    std::vector<Busy>* const legs[] = {&times.pulls, &times.ups, &times.downs, &times.pushes};
    return *legs[static_cast<std::size_t>(device.leg)];
  }

  // Ends the current message and computation.
  void BreakOff(Device& device, TimePoint time) {
    queue_.Cancel(device.message);
    queue_.Cancel(device.part);
    if (device.sending) LegOf(device).push_back({device.message_begin, time});
    if (device.computing) device.times.parts.push_back({device.part_begin, time});
  }

  // The current transfer is complete.
  void Moved(Device& device) {
    const TimePoint now = clock_.Now();
    device.transfer.reset();
    device.sending = false;
    if (device.leg != Device::Leg::kPush) {
      LegOf(device).push_back({device.message_begin, now});
      const bool up = device.leg == Device::Leg::kUp;
      (up ? device.times.crossed_up : device.times.pulled) += device.transfer_bytes;
      if (up) return Arrived(device);
      if (device.times.pulls.size() == device.task.pull.size() && !device.times.pull_end)
        device.times.pull_end = now;
      SendNext(device);
      Compute(device);
      return;
    }
    const bool crashes =
        std::holds_alternative<CrashesInUpload>(device.task.fault) && UntilCrash(device) <= 1;
    device.times.pushed += device.transfer_bytes;
    device.times.pushes.push_back({device.message_begin, now});
    if (!crashes && device.times.pushes.size() < device.task.push.size()) return SendNext(device);
    if (crashes) {
      BreakOff(device, now);
      return Settle(device, DeviceOutcome::kCrashed);
    }
    device.times.push_end = now;
    const bool lost = std::holds_alternative<LosesUpdate>(device.task.fault);
    Settle(device, lost ? DeviceOutcome::kLost : DeviceOutcome::kArrived);
  }

  void Vanish(Device& device) {
    if (device.settled()) return;
    BreakOff(device, clock_.Now());
    if (device.transfer) {
      // A transfer complete by now was reported before this event.
      const std::optional<Bytes> moved = links_.Cancel(clock_.Now(), *device.transfer);
      TRIBUTARY_CHECK(moved.has_value());
      (device.leg == Device::Leg::kPush ? device.times.pushed
       : device.leg == Device::Leg::kUp ? device.times.crossed_up
                                        : device.times.pulled) += *moved;
    }
    std::erase(waiting_, static_cast<std::size_t>(&device - devices_.data()));
    Settle(device, DeviceOutcome::kVanished);
  }

  const std::span<const ServerShard> servers_;
  const std::optional<Duration> patience_;
  const std::size_t quorum_;
  const SplitWork& cut_;
  std::vector<std::size_t> waiting_;  // for the other devices' batches
  std::size_t closed_ = 0;            // number of crossings with replies
  TimePoint until_ = kNever;
  TimePoint server_free_{0};
  VirtualClock clock_;
  EventQueue queue_;
  SharedLinks links_;
  std::vector<Device> devices_;
  std::vector<std::size_t> owners_;  // device index of each transfer
  OrderTimeline timeline_;
};

}  // namespace

OrderTimeline PlayDevices(std::span<const ServerShard> servers, std::span<const DeviceTask> tasks,
                          TimePoint start, std::optional<Duration> deadline, std::size_t quorum,
                          const SplitWork& cut) {
  TRIBUTARY_CHECK(!servers.empty() && (!deadline || *deadline >= Duration(0)));
  return Player(servers, tasks, start, deadline, quorum, cut).Play();
}

}  // namespace tributary::inline simulated
