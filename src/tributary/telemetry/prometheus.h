#pragma once

#include <cstdint>
#include <string>

#include "tributary/base/mutex.h"
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

}  // namespace tributary::inline telemetry
