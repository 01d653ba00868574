#include "tributary/coordinator/finished_run.h"

#include <nlohmann/json.hpp>
#include <tuple>

#include "tributary/experiment/vocabulary.h"

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
    // The device that waits least is the one that others wait for.
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

FinishedRun MakeFinishedRun(const RunOutcome& outcome, const Coordinator& coordinator,
                            std::span<const DeviceProfile> profiles, const RunTotals& totals,
                            Digest& digest) {
  FinishedRun result;
  result.run = outcome;
  digest.Add(coordinator.parameters());
  digest.Add(coordinator.statistics());
  result.digest = digest.Hex();
  result.profiles.assign(profiles.begin(), profiles.end());
  result.devices = totals.devices;
  result.outcomes = totals.outcomes;
  result.rolled_back = totals.rolled_back;
  result.quarantined = totals.quarantined;
  result.devices.resize(profiles.size());  // Devices that were never asked have empty totals.
  for (const DeviceTotals& device : result.devices) {
    result.down += device.down;
    result.up += device.up;
  }
  return result;
}

std::string FormatSummary(const Experiment& experiment, const FinishedRun& result) {
  using Json = nlohmann::ordered_json;
  Json devices = Json::array();
  for (std::size_t i = 0; i < result.devices.size(); ++i) {
    const DeviceTotals& device = result.devices[i];
    Json& row = devices.emplace_back(Json{{"device", i},
                                          {"group", result.profiles[i].group},
                                          {"samples", result.profiles[i].samples},
                                          {"applied", device.applied},
                                          {"missed", device.missed}});
    PutDeviceTotals(device, [&](const std::string& key, auto value) { row[key] = value; });
    if (device.chose > 0) row["kept"] = device.kept_sum / static_cast<double>(device.chose);
    if (device.capped > 0) row["capped"] = device.capped;
    if (device.clipped > 0) row["clipped"] = device.clipped;
  }
  Json summary = {{"experiment", experiment.goal.name},
                  {"seed", experiment.goal.seed},
                  {"method", NameOf(kMethods, experiment.train.method)},
                  {"model", experiment.model.name},
                  {"compute_as", nullptr},
                  {"data", experiment.data.set},
                  {"rounds", result.run.rounds},
                  {"ended_by", NameOf(result.run.reason)},
                  {"accuracy", nullptr},
                  {result.simulated ? "virtual_seconds" : "seconds", ToSeconds(result.time)},
                  {"bytes_down", result.down.value},
                  {"bytes_up", result.up.value},
                  {"digest", result.digest},
                  {"devices", devices}};
  if (result.rolled_back > 0) summary["rolled_back"] = result.rolled_back;
  for (const DeviceId device : result.quarantined) summary["quarantined"].push_back(device.value);
  if (experiment.model.compute_as) summary["compute_as"] = *experiment.model.compute_as;
  if (result.run.accuracy) summary["accuracy"] = *result.run.accuracy;
  return summary.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tributary::inline coordinator
