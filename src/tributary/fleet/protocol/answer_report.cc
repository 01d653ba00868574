#include "tributary/fleet/protocol/answer_report.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "tributary/fleet/protocol/plan_book.h"

namespace tributary::inline protocol {
namespace {

// Bytes and seconds.
std::pair<double, double> Total(std::span<const StepObservation::Move> moves) {
  std::pair<double, double> total{0, 0};
  for (const auto& move : moves) {
    total.first += move.bytes;
    total.second += move.seconds;
  }
  return total;
}

DeviceReport::Stream StandingOf(const StreamUse& use) {
  DeviceReport::Stream stream{.buffered = use.buffered,
                              .oldest = FromSeconds(std::min(use.oldest_seconds, 1e8)),
                              .dropped = use.dropped,
                              .missing = use.missing,
                              .undecodable = use.undecodable,
                              .first = use.first,
                              .last = use.last};
  if (use.samples_per_second > 0) stream.rate = SamplesPerSecond{use.samples_per_second};
  return stream;
}

}  // namespace

Status CheckStream(const Answer& answer, std::int64_t received, const Member& member) {
  if (answer.stream.has_value() != member.streams)
    return InvalidArgument("the answer and the device's Ready disagree about whether it has a stream");
  if (!answer.stream) return OkStatus();
  const StreamUse& use = *answer.stream;
  const std::int64_t own =
      std::max<std::int64_t>(0, answer.samples - received);  // other devices' samples have no positions
  if (use.first < member.applied_position || use.last - use.first + 1 < own) {
    return Refused(
        "the device trained on {} samples at positions {} to {}; requested were positions from {} on", own,
        use.first, use.last, member.applied_position);
  }
  return OkStatus();
}

Status CheckKept(const Answer& answer, std::size_t menu) {
  if (answer.kept.has_value() != (menu > 0)) {
    return InvalidArgument(menu > 0
                               ? "the device does not say how much of the network it has trained"
                               : "the device has trained a part of the network, and was asked for all of it");
  }
  if (!answer.kept) return OkStatus();
  if (answer.kept->entries.empty())
    return InvalidArgument("the device does not say which sub-networks it trained");
  const std::uint32_t most = *std::ranges::max_element(answer.kept->entries);
  if (most < menu) return OkStatus();
  return Refused("the device trained sub-network {}; the menu has {}", most, menu);
}

StepObservation DescribeAnswer(const Task& task, const Answer& answer, TimePoint now, bool trains,
                               std::span<const std::int64_t> unit_bytes, DeviceReport& report) {
  Duration all = now - task.begun;
  const auto within = [&](double seconds) { return std::min(all, FromSeconds(std::min(seconds, 1e8))); };
  report.pull = within(answer.pull_seconds);
  for (const AnswerTime& time : kAnswerTimes) {
    if (time.figure != nullptr) report.*time.figure = within(answer.*time.seconds);
  }
  if (answer.stream) {
    report.stream = StandingOf(*answer.stream);
    // Weights arrive meanwhile. The time spent waiting for samples only is not part of the step.
    const double begun =
        answer.arrival_seconds.empty() ? answer.pull_seconds : answer.arrival_seconds.front();
    report.wait = within(std::max(0.0, answer.stream->wait_seconds - begun));
    all -= report.wait;
    report.pull = std::min(report.pull, all);
  }
  // The time of the coordinator's part of a crossing is not the device's time.
  const Duration crossing = within(answer.cross_seconds);
  report.wait += crossing;
  all -= crossing;
  report.pull = std::min(report.pull, all);
  // With a single segment nothing is computed before all weights have arrived.
  const bool whole = task.plan.pull.size() == 1;
  report.compute = std::min(within(answer.compute_seconds), whole ? all - report.pull : all);
  report.push = std::max(Duration(0), all - report.pull - report.compute);
  if (task.relays) {  // Waiting is all time that is neither local steps nor fetching models.
    report.pull += std::min(within(answer.meet_seconds), all - report.pull - report.compute);
    report.wait += all - report.pull - report.compute;
    report.push = Duration(0);
    return {};
  }
  if (!trains) return {};
  report.planned = FromSeconds(task.plan.predicted);
  const std::size_t first_floats =
      task.delivery.weights.empty() ? 0 : task.delivery.weights.front().second.count;
  const auto first = static_cast<double>(first_floats * sizeof(float));
  StepObservation seen =
      ObservationOf(answer, task.plan, unit_bytes, first, task.update->arrivals(), ToSeconds(all));
  // The transfer time of an update that is sent during the computation follows from its bytes.
  const auto [up, up_time] = Total(seen.pushes);
  const auto bytes = static_cast<double>(task.up.value);
  if (task.plan.push.size() > 1 && 2 * up >= bytes) report.push = within(up_time * bytes / up);
  report.hidden = std::max(Duration(0), report.pull + report.compute + report.push - all);
  const double forward = std::accumulate(seen.forward.begin(), seen.forward.end(), 0.0);
  const double backward = std::accumulate(seen.backward.begin(), seen.backward.end(), 0.0);
  report.hideable = std::min(report.pull, within(forward)) + std::min(report.push, within(backward));
  return seen;
}

void LearnFromAnswer(const Task& task, const Answer& answer, Duration measured, const DeviceReport& report,
                     const StepObservation& seen, bool trains, double macs, std::size_t member,
                     Members& members) {
  if (!task.relays) members.SeeDown(member, task.down, report.pull);
  if (!trains) return;
  const double kept = answer.kept ? answer.kept->macs : 1;
  members.SeeCompute(member, 3 * kept * macs * static_cast<double>(answer.samples), report.compute, measured);
  // The first piece's time is unknown, and more had arrived with it: a small share tells nothing.
  const auto [up, up_time] = Total(seen.pushes);
  if (2 * up >= static_cast<double>(task.up.value)) {
    members.SeeUp(member, Bytes{static_cast<std::int64_t>(up)}, FromSeconds(up_time));
  }
  members.NoteStream(member, answer.stream, answer.samples, measured);
}

}  // namespace tributary::inline protocol
