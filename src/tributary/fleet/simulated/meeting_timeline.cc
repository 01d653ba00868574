#include "tributary/fleet/simulated/meeting_timeline.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <tuple>

#include "tributary/base/check.h"
#include "tributary/fleet/simulated/event_queue.h"

namespace tributary::inline simulated {
namespace {

// Times are seconds as doubles, from the first flow's beginning, rounded in the result.
class Meetings {
 public:
  Meetings(std::span<const MeetingTask> tasks, std::span<const MeetingFlow> flows, Bytes size)
      : tasks_(tasks),
        flows_(flows),
        size_(static_cast<double>(size.value)),
        links_(2 * tasks.size()),
        state_(flows.size()) {
    times_.begins.assign(flows.size(), kNever);
    times_.ends.assign(flows.size(), kNever);
  }

  MeetingTimes Run() {
    for (std::size_t flow = 0; flow < flows_.size(); ++flow) {
      const MeetingTask& from = tasks_[flows_[flow].from];
      const MeetingTask& to = tasks_[flows_[flow].to];
      TRIBUTARY_CHECK(from.up.value > 0 && to.down.value > 0 && flows_[flow].from != flows_[flow].to);
      if (from.computed == kNever) continue;
      times_.begins[flow] = from.computed + from.setup + (from.round_trip + to.round_trip) / 2;
      epoch_ = std::min(epoch_, times_.begins[flow]);
    }
    for (std::size_t flow = 0; flow < flows_.size(); ++flow) {
      if (times_.begins[flow] != kNever) events_.push({ToSeconds(times_.begins[flow] - epoch_), flow, 0});
    }
    while (!events_.empty()) {
      const auto [time, flow, version] = events_.top();
      events_.pop();
      if (version != state_[flow].version) continue;  // its rate has changed since
      if (version == 0) {
        Begin(flow, time);
      } else {
        End(flow, time);
      }
    }
    return std::move(times_);
  }

 private:
  struct FlowState {
    double left = 0;  // bytes, at `since`
    double since = 0;
    double rate = 0;
    std::uint64_t version = 0;  // of its end event; 0 before it begins
  };
  using Event = std::tuple<double, std::size_t, std::uint64_t>;  // time, flow, version

  std::vector<std::size_t>& UpOf(std::size_t flow) { return links_[2 * flows_[flow].from]; }
  std::vector<std::size_t>& DownOf(std::size_t flow) { return links_[2 * flows_[flow].to + 1]; }

  void Begin(std::size_t flow, double now) {
    state_[flow] = {size_ * tasks_[flows_[flow].from].sends, now, 0, 0};
    UpOf(flow).push_back(flow);
    DownOf(flow).push_back(flow);
    Divide(flow, now);
  }

  void End(std::size_t flow, double now) {
    times_.ends[flow] = epoch_ + Duration(std::llround(now * 1e9));
    ++state_[flow].version;
    std::erase(UpOf(flow), flow);
    std::erase(DownOf(flow), flow);
    Divide(flow, now);
  }

  // After a change on this flow's two links: updates the rates of all flows on them.
  void Divide(std::size_t flow, double now) {
    for (const std::size_t other : UpOf(flow)) SetRate(other, now);
    for (const std::size_t other : DownOf(flow)) SetRate(other, now);
  }

  void SetRate(std::size_t flow, double now) {
    FlowState& state = state_[flow];
    const double up = tasks_[flows_[flow].from].up.value / 8 / static_cast<double>(UpOf(flow).size());
    const double down = tasks_[flows_[flow].to].down.value / 8 / static_cast<double>(DownOf(flow).size());
    const double rate = std::min(up, down);
    if (rate == state.rate && state.version > 0) return;
    if (state.rate > 0 && now > state.since)
      state.left = std::max(0.0, state.left - (now - state.since) * state.rate);
    state.since = now;
    state.rate = rate;
    ++state.version;
    events_.push({now + state.left / rate, flow, state.version});
  }

  const std::span<const MeetingTask> tasks_;
  const std::span<const MeetingFlow> flows_;
  const double size_;
  TimePoint epoch_ = kNever;
  std::vector<std::vector<std::size_t>> links_;  // active flows: up and down of task 0, of task 1, …
  std::vector<FlowState> state_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  MeetingTimes times_;
};

}  // namespace

MeetingTimes SimulateMeetings(std::span<const MeetingTask> tasks, std::span<const MeetingFlow> flows,
                              Bytes size) {
  return Meetings(tasks, flows, size).Run();
}

}  // namespace tributary::inline simulated
