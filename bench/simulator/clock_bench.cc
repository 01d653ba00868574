// Speed of the virtual clock without training: events per second of the queue against a std::priority_queue
// of std::function (alternating in one process, medians), and rounds per second of whole fleets on four
// servers.

#include <cstdio>
#include <functional>
#include <queue>
#include <vector>

#include "../timing.h"
#include "tributary/base/distributions.h"
#include "tributary/fleet/simulated/device_timeline.h"
#include "tributary/fleet/simulated/event_queue.h"

namespace tributary {
namespace {

using bench::Median;
using bench::Seconds;

constexpr std::size_t kPending = 10'000;
constexpr std::size_t kEvents = 1'000'000;
constexpr int kRepeats = 7;

// The same load for both queues: a fixed number of pending events, each of which schedules another.
struct Load {
  Rng rng{1};
  std::size_t left = kEvents;
  std::uint64_t device_sum = 0;  // read by every event, so that events carry data

  Duration Delay() { return Duration(static_cast<std::int64_t>(1 + rng.Below(1'000'000))); }
};

double OursSeconds() {
  VirtualClock clock;
  EventQueue queue(clock);
  Load load;
  struct Event {
    VirtualClock* clock;
    EventQueue* queue;
    Load* load;
    std::uint64_t device;
    void operator()() const {
      load->device_sum += device;
      if (load->left == 0) return;
      --load->left;
      queue->Schedule(clock->Now() + load->Delay(), *this);
    }
  };
  return Seconds([&] {
    for (std::size_t i = 0; i < kPending; ++i) queue.Schedule(load.Delay(), Event{&clock, &queue, &load, i});
    while (queue.RunNext()) {
    }
  });
}

double PriorityQueueSeconds() {
  struct Entry {
    TimePoint time;
    std::uint64_t sequence;
    std::function<void()> action;
    bool operator<(const Entry& other) const {
      return time != other.time ? time > other.time : sequence > other.sequence;
    }
  };
  struct Simulation {
    std::priority_queue<Entry> queue;
    std::uint64_t sequence = 0;
    TimePoint now{0};
  } simulation;
  Load load;
  struct Event {
    Simulation* simulation;
    Load* load;
    std::uint64_t device;
    void operator()() const {
      load->device_sum += device;
      if (load->left == 0) return;
      --load->left;
      simulation->queue.push({simulation->now + load->Delay(), ++simulation->sequence, *this});
    }
  };
  return Seconds([&] {
    for (std::size_t i = 0; i < kPending; ++i) {
      simulation.queue.push({load.Delay(), ++simulation.sequence, Event{&simulation, &load, i}});
    }
    while (!simulation.queue.empty()) {
      const Entry next = simulation.queue.top();
      simulation.queue.pop();
      simulation.now = next.time;
      next.action();
    }
  });
}

// 45 MB (ResNet-18) over four servers of 10 Gbit/s each way. `kinds` of links; 0: all different.
std::vector<DeviceTask> Fleet(std::size_t devices, std::size_t kinds) {
  Rng rng(7);
  const auto megabits = [&](double low, double high) {
    const double position =
        kinds == 0 ? rng.Uniform() : static_cast<double>(rng.Below(kinds)) / static_cast<double>(kinds);
    return BitsPerSecond{(low + (high - low) * position) * 1e6};
  };
  std::vector<DeviceTask> tasks;
  for (std::size_t i = 0; i < devices; ++i) {
    const Duration compute = FromSeconds(Uniform(rng, 1, 60));
    tasks.push_back({.device = {i},
                     .setup = FromSeconds(0.005),
                     .round_trip = FromSeconds(0.04),
                     .up = megabits(5, 100),
                     .down = megabits(20, 500),
                     .pull = {Bytes{45'000'000}},
                     .push = {Bytes{45'000'000}},
                     .compute = [compute](std::size_t part, TimePoint begin) {
                       return part == 0 ? begin + compute : begin;
                     }});
  }
  return tasks;
}

void ReportQueue() {
  std::vector<double> ours;
  std::vector<double> standard;
  for (int i = 0; i < kRepeats; ++i) {
    ours.push_back(OursSeconds());
    standard.push_back(PriorityQueueSeconds());
  }
  const double events = static_cast<double>(kEvents + kPending);
  std::printf("events, %zu pending: %.2f M/s; std::priority_queue of std::function: %.2f M/s; ratio %.2f\n",
              kPending, events / Median(ours) * 1e-6, events / Median(standard) * 1e-6,
              Median(standard) / Median(ours));
}

void ReportRounds(std::size_t devices, std::size_t kinds) {
  const BitsPerSecond server{1e10};
  const std::vector<ServerShard> servers = MakeEvenServers(4, Bytes{45'000'000}, {server, server});
  const std::vector<DeviceTask> tasks = Fleet(devices, kinds);
  std::vector<double> seconds;
  double end = 0;
  for (int i = 0; i < kRepeats; ++i) {
    seconds.push_back(
        Seconds([&] { end = ToSeconds(PlayDevices(servers, tasks, TimePoint(0), std::nullopt, 0).idle); }));
  }
  std::printf("round of %5zu devices, %s: %9.3f ms, %8.1f rounds/s (%.1f s of virtual time)\n", devices,
              kinds == 0 ? "all links different" : "eight kinds of link", Median(seconds) * 1e3,
              1 / Median(seconds), end);
}

}  // namespace
}  // namespace tributary

int main() {
  tributary::ReportQueue();
  for (const std::size_t devices : {64u, 1'000u, 10'000u}) {
    tributary::ReportRounds(devices, 0);
    tributary::ReportRounds(devices, 8);
  }
  return 0;
}
