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

// A run as Prometheus metrics, in the text exposition format 0.0.4. Thread-safe.
//
// The number of series is bounded: the first `devices` devices have their own, all others are summed under
// device="other", without rates and levels. Counters restart with each run.
class PrometheusSink : public EventSink {
 public:
  explicit PrometheusSink(std::uint64_t devices = 100) : totals_(devices) {}
  void Write(const Event& event) override;
  std::string Text() const;

 private:
  mutable Mutex mutex_;
  RunTotals totals_ TRIBUTARY_GUARDED_BY(mutex_);
};

// Keeps the text of a PrometheusSink in a file for the text-file collector of the node exporter. A separate
// thread writes it at most once a second and replaces it atomically. It is not synced to disk.
class MetricsFile : public EventSink {
 public:
  // Writes the file once, so that an unwritable path fails here.
  static StatusOr<std::unique_ptr<MetricsFile>> Create(std::filesystem::path path);
  ~MetricsFile() override;
  MetricsFile(const MetricsFile&) = delete;
  MetricsFile& operator=(const MetricsFile&) = delete;

  void Write(const Event& event) override;
  // Writes the last state. Returns the first failure since Create. No Write may follow.
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
