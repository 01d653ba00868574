#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "tributary/telemetry/round_tally.h"
#include "tributary/telemetry/sink.h"

namespace tributary {

// A run as numbers that Prometheus collects. Text is in its exposition format, version 0.0.4, and may be asked for from any
// thread while events come in.
//
// Labels are bounded: the first `devices` devices by number have series of their own, all others are summed up under
// device="other"; of what is not summed (rates, levels) those have none. Counters start over where a run does.
class PrometheusSink : public EventSink {
 public:
  explicit PrometheusSink(std::uint64_t devices = 100) : named_devices_(devices) {}

  void Write(const Event& event) override;
  std::string Text() const;

 private:
  struct DeviceSums {
    std::uint64_t applied = 0;
    std::uint64_t missed = 0;
    Duration compute{0};
    Duration transfer{0};
    Duration hidden{0};
    Duration waiting{0};
    Bytes down;
    Bytes up;
    // As it was last said.
    std::optional<double> stream_rate;
    std::optional<std::uint64_t> buffered;
    std::optional<double> kept;
  };
  struct Evaluation {
    std::optional<double> accuracy;
    std::optional<double> loss;
  };
  struct State {
    std::optional<RunStarted> run;
    bool running = false;
    std::uint64_t rounds = 0;
    TimePoint time{0};
    std::optional<RoundFinished> last;
    std::optional<RoundShares> shares;
    RoundTally tally;
    std::uint64_t applied = 0, late = 0, lost = 0, refused = 0, crashed = 0;
    Bytes down, up, injected;
    Evaluation central, on_devices;
    std::map<std::uint64_t, DeviceSums> devices;
    bool has_others = false;
    DeviceSums others;
  };

  void On(const DeviceFinished& device);
  void On(const RoundFinished& round);

  const std::uint64_t named_devices_;
  mutable std::mutex mutex_;
  State state_;  // Guarded by mutex_.
};

}  // namespace tributary
