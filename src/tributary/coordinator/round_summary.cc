#include "tributary/coordinator/round_summary.h"

namespace tributary {

DeviceFinished EventOf(RoundId round, const DeviceReport& report) {
  DeviceFinished event;
  event.round = round;
  event.device = report.device;
  event.outcome = report.outcome;
  event.reason = report.reason;
  event.samples = static_cast<std::uint64_t>(report.metrics.samples);
  if (report.metrics.samples > 0) event.loss = report.metrics.loss;
  event.pull = report.pull;
  event.compute = report.compute;
  event.push = report.push;
  event.wait = report.wait;
  event.hidden = report.hidden;
  event.hideable = report.hideable;
  event.planned = report.planned;
  event.bytes_down = report.down;
  event.bytes_up = report.up;
  if (report.kept) event.kept = report.kept->macs;
  if (report.met) event.met = static_cast<std::uint64_t>(*report.met);
  event.bytes_relayed = report.relayed;
  if (report.stream) {
    if (report.stream->rate) event.stream_rate = report.stream->rate->value;
    event.buffered = static_cast<std::uint64_t>(report.stream->buffered);
    event.oldest = report.stream->oldest;
    event.dropped = static_cast<std::uint64_t>(report.stream->dropped);
    event.missing = static_cast<std::uint64_t>(report.stream->missing);
    event.undecodable = static_cast<std::uint64_t>(report.stream->undecodable);
    if (report.stream->last >= report.stream->first) {
      event.stream_first = static_cast<std::uint64_t>(report.stream->first);
      event.stream_last = static_cast<std::uint64_t>(report.stream->last);
    }
  }
  return event;
}

RoundFinished Summarise(RoundId round, const RoundReport& report) {
  RoundFinished summary;
  summary.round = round;
  summary.duration = report.end - report.start;
  double loss = 0;
  double samples = 0;
  Duration hidden{0}, hideable{0};
  std::optional<Duration> shortest_wait;
  for (const DeviceReport& device : report.devices) {
    summary.bytes_down += device.down;
    summary.bytes_up += device.up;
    summary.bytes_injected += device.injected;
    if (device.stream) summary.buffered += static_cast<std::uint64_t>(device.stream->buffered);
    switch (device.outcome) {
      case Outcome::kApplied:
        ++summary.applied;
        break;
      case Outcome::kLate:
        ++summary.late;
        break;
      case Outcome::kLost:
        ++summary.lost;
        break;
      case Outcome::kRefused:
        ++summary.refused;
        break;
      case Outcome::kCrashed:
        ++summary.crashed;
        break;
    }
    if (device.outcome != Outcome::kApplied && device.outcome != Outcome::kLate) continue;
    // Whoever waits least is the one the others wait for.
    if (!shortest_wait || device.wait < *shortest_wait) {
      shortest_wait = device.wait;
      summary.slowest = device.device;
    }
    if (device.outcome != Outcome::kApplied) continue;
    hidden += device.hidden;
    hideable += device.hideable;
    loss += device.metrics.loss * static_cast<double>(device.metrics.samples);
    samples += static_cast<double>(device.metrics.samples);
  }
  if (samples > 0) summary.train_loss = loss / samples;
  if (hideable > Duration(0)) summary.overlap = ToSeconds(hidden) / ToSeconds(hideable);
  return summary;
}

std::string FirstFailure(const RoundReport& report) {
  for (const DeviceReport& device : report.devices) {
    if (device.outcome != Outcome::kApplied)
      return std::to_string(device.device.value) + ": " + device.reason;
  }
  return "";
}

}  // namespace tributary
