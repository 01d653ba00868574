#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "tributary/base/mutex.h"
#include "tributary/base/status.h"
#include "tributary/telemetry/run_totals.h"

namespace tributary::inline telemetry {

// A run as numbers that Prometheus collects. Text is in its exposition format, version 0.0.4, and may be asked for from any
// thread while events come in.
//
// Labels are bounded: the first `devices` devices by number have series of their own, all others are summed up under
// device="other"; of what is not summed (rates, levels) those have none. Counters start over where a run does.
class PrometheusSink : public EventSink {
 public:
  explicit PrometheusSink(std::uint64_t devices = 100) : totals_(devices) {}

  void Write(const Event& event) override;
  std::string Text() const;

 private:
  mutable Mutex mutex_;
  RunTotals totals_ TRIBUTARY_GUARDED_BY(mutex_);
};

// Keeps the text of a PrometheusSink in a file, as the text-file collector of Prometheus' node exporter reads it: written
// on a thread of its own at most once a second, and replaced as a whole, so that no reader sees half of it. It is not
// forced to disk: after a power cut there is nothing to collect.
class MetricsFile : public EventSink {
 public:
  // Writes it for the first time, so that a place where it cannot be written is an error here.
  static StatusOr<std::unique_ptr<MetricsFile>> Create(std::filesystem::path path);
  ~MetricsFile() override;
  MetricsFile(const MetricsFile&) = delete;
  MetricsFile& operator=(const MetricsFile&) = delete;

  void Write(const Event& event) override;
  // Writes the last state. The first failure since Create, if there was one. Nothing may be written afterwards.
  Status Close();

 private:
  explicit MetricsFile(std::filesystem::path path) : path_(std::move(path)) {}
  void Work();
  Status WriteText() const;

  const std::filesystem::path path_;
  PrometheusSink metrics_;
  Mutex mutex_;
  Condition stop_or_second_;
  bool changed_ TRIBUTARY_GUARDED_BY(mutex_) = false;
  bool stop_ TRIBUTARY_GUARDED_BY(mutex_) = false;
  Status status_ TRIBUTARY_GUARDED_BY(mutex_);

  std::thread thread_;
};

}  // namespace tributary::inline telemetry
