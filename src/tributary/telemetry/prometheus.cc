#include "tributary/telemetry/prometheus.h"

#include "tributary/base/saturating.h"
#include "tributary/telemetry/exposition.h"

namespace tributary {
namespace {

double Count(std::uint64_t value) { return static_cast<double>(value); }
double Count(Bytes bytes) { return static_cast<double>(bytes.value); }

// A family of one sample, where there is one.
void Gauge(Exposition& out, std::string_view name, std::optional<double> value, std::string_view help) {
  out.Family(name, "gauge", help);
  if (value) out.Sample(*value);
}

}  // namespace

void PrometheusSink::On(const DeviceFinished& device) {
  state_.tally.Add(device);
  const bool named = device.device.value < named_devices_;
  state_.has_others = state_.has_others || !named;
  DeviceSums& sums = named ? state_.devices[device.device.value] : state_.others;
  ++(device.outcome == Outcome::kApplied ? sums.applied : sums.missed);
  sums.compute = SaturatingAdd(sums.compute, device.compute);
  sums.transfer = SaturatingAdd(sums.transfer, SaturatingAdd(device.pull, device.push));
  sums.hidden = SaturatingAdd(sums.hidden, device.hidden);
  sums.waiting = SaturatingAdd(sums.waiting, device.wait);
  sums.down = SaturatingAdd(sums.down, device.bytes_down);
  sums.up = SaturatingAdd(sums.up, device.bytes_up);
  if (!named) return;
  if (device.stream_rate) {
    sums.stream_rate = device.stream_rate;
    sums.buffered = device.buffered;
  }
  if (device.kept) sums.kept = device.kept;
}

void PrometheusSink::On(const RoundFinished& round) {
  state_.shares = state_.tally.Finish(round);
  state_.last = round;
  ++state_.rounds;
  state_.applied = SaturatingAdd(state_.applied, round.applied);
  state_.late = SaturatingAdd(state_.late, round.late);
  state_.lost = SaturatingAdd(state_.lost, round.lost);
  state_.refused = SaturatingAdd(state_.refused, round.refused);
  state_.crashed = SaturatingAdd(state_.crashed, round.crashed);
  state_.down = SaturatingAdd(state_.down, round.bytes_down);
  state_.up = SaturatingAdd(state_.up, round.bytes_up);
  state_.injected = SaturatingAdd(state_.injected, round.bytes_injected);
}

void PrometheusSink::Write(const Event& event) {
  const std::lock_guard lock(mutex_);
  if (const auto* run = std::get_if<RunStarted>(&event.what)) {
    state_ = State();
    state_.run = *run;
    state_.running = true;
  } else if (const auto* device = std::get_if<DeviceFinished>(&event.what)) {
    On(*device);
  } else if (const auto* round = std::get_if<RoundFinished>(&event.what)) {
    On(*round);
  } else if (const auto* evaluated = std::get_if<Evaluated>(&event.what)) {
    (evaluated->where == EvaluatedWhere::kCentral ? state_.central : state_.on_devices) = {
        evaluated->accuracy, evaluated->loss};
  } else if (std::holds_alternative<RunFinished>(event.what)) {
    state_.running = false;
  }
  state_.time = event.time;
}

std::string PrometheusSink::Text() const {
  const State state = [&] {
    const std::lock_guard lock(mutex_);
    return state_;
  }();
  Exposition out;
  out.Family("tributary_run_info", "gauge", "What is run; always 1.");
  if (state.run) {
    const std::string seed = std::to_string(state.run->seed);
    out.Sample(1, {{"experiment", state.run->experiment},
                   {"seed", seed},
                   {"method", state.run->method},
                   {"model", state.run->model},
                   {"data", state.run->data}});
    Gauge(out, "tributary_devices", Count(state.run->devices), "Devices of the experiment.");
    Gauge(out, "tributary_parameters", Count(state.run->parameters), "Parameters of the network.");
    Gauge(out, "tributary_rounds_planned", Count(state.run->rounds),
          "Rounds planned; 0 where something else ends the run.");
  }
  Gauge(out, "tributary_running", state.running ? 1 : 0, "1 while the run goes on.");
  Gauge(out, "tributary_run_seconds", ToSeconds(state.time),
        "The run's own clock, virtual or real, at its last event.");
  out.Family("tributary_rounds_total", "counter", "Rounds finished.");
  out.Sample(Count(state.rounds));
  out.Family("tributary_contributions_total", "counter", "What became of what devices were asked for.");
  out.Sample(Count(state.applied), {{"outcome", "applied"}});
  out.Sample(Count(state.late), {{"outcome", "late"}});
  out.Sample(Count(state.lost), {{"outcome", "lost"}});
  out.Sample(Count(state.refused), {{"outcome", "refused"}});
  out.Sample(Count(state.crashed), {{"outcome", "crashed"}});
  out.Family("tributary_bytes_total", "counter", "Bytes to devices (down) and from them (up).");
  out.Sample(Count(state.down), {{"direction", "down"}});
  out.Sample(Count(state.up), {{"direction", "up"}});
  out.Family("tributary_injected_bytes_total", "counter", "Of all bytes, samples that devices share.");
  out.Sample(Count(state.injected));
  out.Family("tributary_accuracy", "gauge", "Accuracy, from 0 to 1, of the last evaluation.");
  if (state.central.accuracy) out.Sample(*state.central.accuracy, {{"where", "central"}});
  if (state.on_devices.accuracy) out.Sample(*state.on_devices.accuracy, {{"where", "devices"}});
  out.Family("tributary_loss", "gauge", "Loss of the last evaluation.");
  if (state.central.loss) out.Sample(*state.central.loss, {{"where", "central"}});
  if (state.on_devices.loss) out.Sample(*state.on_devices.loss, {{"where", "devices"}});
  if (state.last) {
    Gauge(out, "tributary_round_seconds", ToSeconds(state.last->duration), "Duration of the last round.");
    Gauge(out, "tributary_train_loss", state.last->train_loss, "Training loss of the last round.");
    Gauge(out, "tributary_buffered_samples", Count(state.last->buffered), "Samples in all devices' buffers.");
    Gauge(out, "tributary_overlap", state.last->overlap,
          "Of the transfers of the last round that could hide behind computation, the share that did.");
    Gauge(out, "tributary_participants", Count(state.shares->participants),
          "Devices asked in the last round.");
    Gauge(out, "tributary_waiting_share", state.shares->waiting,
          "Of the participants' time in the last round, the share in which they waited for others.");
    Gauge(out, "tributary_kept_share", state.shares->kept,
          "Of the network, what devices that choose have trained in the last round, on average.");
  }
  std::vector<std::pair<std::string, const DeviceSums*>> devices;
  for (const auto& [device, sums] : state.devices) devices.emplace_back(std::to_string(device), &sums);
  if (state.has_others) devices.emplace_back("other", &state.others);
  const auto each = [&](std::string_view name, std::string_view help, auto sample) {
    out.Family(name, "counter", help);
    for (const auto& [device, sums] : devices) sample(device, *sums);
  };
  each("tributary_device_rounds_total", "Rounds in which a device was asked.",
       [&](const auto& device, const auto& sums) {
         out.Sample(Count(sums.applied), {{"device", device}, {"outcome", "applied"}});
         out.Sample(Count(sums.missed), {{"device", device}, {"outcome", "missed"}});
       });
  each("tributary_device_seconds_total", "Where a device's time went; transfers overlap with computation.",
       [&](const auto& device, const auto& sums) {
         out.Sample(ToSeconds(sums.compute), {{"device", device}, {"activity", "compute"}});
         out.Sample(ToSeconds(sums.transfer), {{"device", device}, {"activity", "transfer"}});
         out.Sample(ToSeconds(sums.waiting), {{"device", device}, {"activity", "waiting"}});
       });
  each("tributary_device_hidden_seconds_total",
       "Of a device's transfers, what was hidden behind computation.",
       [&](const auto& device, const auto& sums) {
         out.Sample(ToSeconds(sums.hidden), {{"device", device}});
       });
  each("tributary_device_bytes_total", "Bytes to a device (down) and from it (up).",
       [&](const auto& device, const auto& sums) {
         out.Sample(Count(sums.down), {{"device", device}, {"direction", "down"}});
         out.Sample(Count(sums.up), {{"device", device}, {"direction", "up"}});
       });
  const auto level = [&](std::string_view name, std::string_view help, auto value) {
    out.Family(name, "gauge", help);
    for (const auto& [device, sums] : devices) {
      if (const std::optional<double> number = value(*sums)) out.Sample(*number, {{"device", device}});
    }
  };
  level("tributary_device_stream_rate", "Samples that arrive at a device per second, as measured.",
        [](const DeviceSums& sums) { return sums.stream_rate; });
  level("tributary_device_buffered_samples", "Samples that have arrived at a device and are not used yet.",
        [](const DeviceSums& sums) {
          return sums.buffered ? std::optional(Count(*sums.buffered)) : std::nullopt;
        });
  level("tributary_device_kept_share", "Of the network, what a device that chooses has trained last.",
        [](const DeviceSums& sums) { return sums.kept; });
  return std::move(out).Finish();
}

}  // namespace tributary
