#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/units.h"
#include "tributary/telemetry/sink.h"

namespace tributary {

// Where one device's time and bytes went in a whole run.
struct DeviceTotals {
  std::uint64_t applied = 0;  // rounds
  std::uint64_t missed = 0;   // rounds it was asked in without being applied
  Duration compute{0};
  Duration transfer{0};
  Duration waiting{0};
  Duration hidden{0};  // of the transfers, behind computation
  Bytes down;
  Bytes up;
  // Of one that chooses how much of the network it trains: the shares it kept, in how many rounds.
  double kept = 0;
  std::uint64_t chose = 0;
};

// Adds them up from a run's events.
class DeviceTotalsSink : public EventSink {
 public:
  void Write(const Event& event) override;
  // Of the first `devices`; those that were never asked have nothing.
  std::vector<DeviceTotals> totals(std::size_t devices) const;

 private:
  std::vector<DeviceTotals> totals_;
};

}  // namespace tributary
