#include "tributary/telemetry/prometheus.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "tributary/base/file.h"

namespace tributary::inline telemetry {
namespace {

std::string MetricNumber(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

// Uses the JSON library to replace invalid UTF-8.
std::string ValidUtf8(std::string_view text) {
  using Json = nlohmann::json;
  return Json::parse(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace)).get<std::string>();
}

std::string EscapedLabel(std::string_view text) {
  std::string escaped;
  for (const char letter : ValidUtf8(text)) {
    if (letter == '\\' || letter == '"' || letter == '\n') escaped += '\\';
    escaped += letter == '\n' ? 'n' : letter;
  }
  return escaped;
}

// Writes the text format: a family, then its samples.
class Exposition {
 public:
  using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  // `type` is counter or gauge. The following samples belong to it; a family without samples is omitted.
  void Family(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    heading_ = fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
  }

  // Label values are escaped, and bytes that are not UTF-8 replaced.
  void Sample(double value, Labels labels = {}) {
    out_ += std::exchange(heading_, "") + name_;
    const char* before = "{";
    for (const auto& [label, text] : labels) {
      out_ += fmt::format("{}{}=\"{}\"", std::exchange(before, ","), label, EscapedLabel(text));
    }
    out_ += (labels.size() > 0 ? "} " : " ") + MetricNumber(value) + "\n";
  }

  std::string Finish() && { return std::move(out_); }

 private:
  std::string out_;
  std::string name_;
  std::string heading_;  // of the family, until its first sample
};

double Count(std::uint64_t value) { return static_cast<double>(value); }
double Count(Bytes bytes) { return static_cast<double>(bytes.value); }

// A family of at most one sample.
void Gauge(Exposition& out, std::string_view name, std::optional<double> value, std::string_view help) {
  out.Family(name, "gauge", help);
  if (value) out.Sample(*value);
}

void PutRun(Exposition& out, const RunTotals& totals) {
  const RunSums& sums = totals.sums;
  out.Family("tributary_run_info", "gauge", "Labels of the run; always 1.");
  if (totals.run) {
    const std::string seed = std::to_string(totals.run->seed);
    out.Sample(1, {{"experiment", totals.run->experiment},
                   {"seed", seed},
                   {"method", totals.run->method},
                   {"model", totals.run->model},
                   {"data", totals.run->data}});
    Gauge(out, "tributary_devices", Count(totals.run->devices), "Devices of the experiment.");
    Gauge(out, "tributary_parameters", Count(totals.run->parameters), "Parameters of the network.");
    Gauge(out, "tributary_rounds_planned", Count(totals.run->rounds),
          "Rounds planned; 0 if another condition ends the run.");
  }
  Gauge(out, "tributary_running", totals.run && !totals.finished ? 1 : 0, "1 while the run is active.");
  Gauge(out, "tributary_run_seconds", ToSeconds(sums.time),
        "The run's clock, virtual or real, at its last event.");
  out.Family("tributary_rounds_total", "counter", "Rounds finished.");
  out.Sample(Count(totals.finished_rounds));
  out.Family("tributary_contributions_total", "counter", "Contributions requested from devices, by outcome.");
  for (std::size_t i = 0; i < totals.outcomes.size(); ++i) {
    out.Sample(Count(totals.outcomes[i]), {{"outcome", kOutcomeNames[i]}});
  }
  out.Family("tributary_bytes_total", "counter", "Bytes to devices (down) and from them (up).");
  out.Sample(Count(sums.down), {{"direction", "down"}});
  out.Sample(Count(sums.up), {{"direction", "up"}});
  out.Family("tributary_injected_bytes_total", "counter", "Bytes of samples shared between devices.");
  out.Sample(Count(sums.injected));
  out.Family("tributary_accuracy", "gauge", "Accuracy, from 0 to 1, of the last evaluation.");
  const auto each = [&](double Evaluated::*measure) {
    for (const auto& evaluated : totals.evaluated) {
      if (evaluated) out.Sample((*evaluated).*measure, {{"where", NameOf(evaluated->where)}});
    }
  };
  each(&Evaluated::accuracy);
  out.Family("tributary_loss", "gauge", "Loss of the last evaluation.");
  each(&Evaluated::loss);
  if (!totals.last) return;
  const RoundFinished& last = *totals.last;
  Gauge(out, "tributary_round_seconds", ToSeconds(last.duration), "Duration of the last round.");
  Gauge(out, "tributary_train_loss", last.train_loss, "Training loss of the last round.");
  Gauge(out, "tributary_buffered_samples", Count(last.buffered), "Samples in all devices' buffers.");
  Gauge(out, "tributary_overlap", last.overlap,
        "Share of the hideable transfers of the last round that were hidden behind computation.");
  Gauge(out, "tributary_participants", Count(totals.shares.participants), "Devices asked in the last round.");
  Gauge(out, "tributary_waiting_share", totals.shares.waiting,
        "Share of the participants' time in the last round that they waited for others.");
  Gauge(out, "tributary_kept_share", totals.shares.kept,
        "Mean share of the network that devices with sub-networks trained in the last round.");
}

void PutDevices(Exposition& out, const RunTotals& totals) {
  std::vector<std::pair<std::string, const DeviceTotals*>> devices;
  const auto heard_of = [](const DeviceTotals& device) { return device.applied + device.missed > 0; };
  for (const DeviceTotals& device : totals.devices) {
    if (heard_of(device)) devices.emplace_back(std::to_string(device.device.value), &device);
  }
  if (heard_of(totals.others)) devices.emplace_back("other", &totals.others);
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
         for (const DeviceTime& time : kDeviceTimes) {
           if (time.within != nullptr) continue;
           out.Sample(ToSeconds(time.Of(sums)), {{"device", device}, {"activity", time.name}});
         }
       });
  for (const DeviceTime& time : kDeviceTimes) {
    if (time.within == nullptr) continue;
    each("tributary_device_" + std::string(time.name) + "_seconds_total", time.within,
         [&](const auto& device, const auto& sums) {
           out.Sample(ToSeconds(time.Of(sums)), {{"device", device}});
         });
  }
  each("tributary_device_bytes_total", "Bytes to a device (down) and from it (up).",
       [&](const auto& device, const auto& sums) {
         for (const DeviceBytes& bytes : kDeviceBytes) {
           out.Sample(Count(sums.*bytes.part), {{"device", device}, {"direction", bytes.name}});
         }
       });
  if (heard_of(totals.others)) devices.pop_back();
  const auto level = [&](std::string_view name, std::string_view help, auto value) {
    out.Family(name, "gauge", help);
    for (const auto& [device, sums] : devices) {
      if (const auto number = value(*sums)) out.Sample(static_cast<double>(*number), {{"device", device}});
    }
  };
  level("tributary_device_stream_rate", "Samples that arrive at a device per second, as measured.",
        [](const DeviceTotals& sums) { return sums.stream_rate; });
  level("tributary_device_buffered_samples", "Samples that have arrived at a device and are not used yet.",
        [](const DeviceTotals& sums) { return sums.level; });
  level("tributary_device_kept_share", "Share of the network that the device trained last.",
        [](const DeviceTotals& sums) { return sums.trained_share; });
}

}  // namespace

void PrometheusSink::Write(const Event& event) {
  const MutexLock lock(mutex_);
  totals_.Write(event);
}

std::string PrometheusSink::Text() const {
  const RunTotals totals = [&] {
    const MutexLock lock(mutex_);
    return totals_;
  }();
  Exposition out;
  PutRun(out, totals);
  PutDevices(out, totals);
  return std::move(out).Finish();
}

StatusOr<std::unique_ptr<MetricsFile>> MetricsFile::Create(std::filesystem::path path) {
  std::unique_ptr<MetricsFile> file(new MetricsFile(std::move(path)));
  TRIBUTARY_RETURN_IF_ERROR(file->WriteText());
  file->thread_ = std::thread([raw = file.get()] { raw->Work(); });
  return file;
}

MetricsFile::~MetricsFile() { (void)Close(); }

void MetricsFile::Write(const Event& event) {
  metrics_.Write(event);
  const MutexLock lock(mutex_);
  changed_ = true;
}

Status MetricsFile::WriteText() const {
  // Collectors only read files that end in .prom, so they ignore this one.
  std::filesystem::path temporary = path_;
  temporary += "." + std::to_string(::getpid()) + ".new";
  const std::string text = metrics_.Text();
  std::FILE* const file = std::fopen(temporary.c_str(), "we");
  if (file == nullptr) return SystemError("cannot write", path_, errno);
  (void)::fchmod(::fileno(file), 0644);  // collectors run as other users
  errno = 0;
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = std::fclose(file) == 0;
  if (written && closed && std::rename(temporary.c_str(), path_.c_str()) == 0) return OkStatus();
  const int error = errno != 0 ? errno : EIO;
  ::unlink(temporary.c_str());
  return SystemError("cannot write", path_, error);
}

void MetricsFile::Work() {
  MutexLock lock(mutex_);
  bool last = false;
  while (!last) {
    const WaitDeadline second = DeadlineIn(std::chrono::seconds(1));
    while (!stop_ && stop_or_second_.WaitUntil(lock, second)) {
    }
    last = stop_;  // no changes follow
    if (!std::exchange(changed_, false) || !status_.ok()) continue;
    lock.Unlock();
    Status status = WriteText();
    lock.Lock();
    status_ = std::move(status);
  }
}

Status MetricsFile::Close() {
  if (thread_.joinable()) {
    {
      const MutexLock lock(mutex_);
      stop_ = true;
      stop_or_second_.NotifyOne();
    }
    thread_.join();
  }
  const MutexLock lock(mutex_);
  return status_;
}

}  // namespace tributary::inline telemetry
