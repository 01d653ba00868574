#include "tributary/coordinator/round_summary.h"

#include <tuple>

namespace tributary::inline coordinator {

DeviceFinished EventOf(RoundId round, const DeviceReport& report) {
  DeviceFinished event = report;
  event.round = round;
  event.samples = static_cast<std::uint64_t>(report.metrics.samples);
  if (report.metrics.samples > 0) event.loss = report.metrics.loss;
  if (report.kept) event.trained_share = report.kept->macs;
  if (!report.stream) return event;
  const DeviceReport::Stream& stream = *report.stream;
  if (stream.rate) event.stream_rate = stream.rate->value;
  event.buffered = static_cast<std::uint64_t>(stream.buffered);
  event.oldest = stream.oldest;
  event.dropped = static_cast<std::uint64_t>(stream.dropped);
  event.missing = static_cast<std::uint64_t>(stream.missing);
  event.undecodable = static_cast<std::uint64_t>(stream.undecodable);
  if (stream.last >= stream.first) {
    event.stream_first = static_cast<std::uint64_t>(stream.first);
    event.stream_last = static_cast<std::uint64_t>(stream.last);
  }
  return event;
}

RoundFinished Summarise(RoundId round, const RoundReport& report) {
  RoundFinished summary;
  summary.round = round;
  summary.duration = report.end - report.start;
  OutcomeCounts outcomes{};
  double loss = 0;
  double samples = 0;
  Duration hidden{0}, hideable{0};
  std::optional<Duration> shortest_wait;
  for (const DeviceReport& device : report.devices) {
    summary.bytes_down += device.down;
    summary.bytes_up += device.up;
    summary.bytes_injected += device.injected;
    if (device.stream) summary.buffered += static_cast<std::uint64_t>(device.stream->buffered);
    ++outcomes[static_cast<std::size_t>(device.outcome)];
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
  std::tie(summary.applied, summary.late, summary.lost, summary.refused, summary.crashed) =
      std::tuple_cat(outcomes);
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

}  // namespace tributary::inline coordinator
