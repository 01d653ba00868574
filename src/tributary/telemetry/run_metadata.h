#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/status.h"
#include "tributary/base/units.h"

namespace tributary::inline telemetry {

// Data about a run besides its events: devices, and inputs of decisions. For display; kept in facts.json.
struct RunMetadata {
  struct Device {
    std::string name;                        // of a real device, from its certificate; may be any bytes
    std::string group;                       // of a simulated device
    std::vector<std::int64_t> class_counts;  // empty if unknown
    friend bool operator==(const Device&, const Device&) = default;
  };
  // A point of the front that devices choose from.
  struct Choice {
    double cost = 0;  // relative to the full network
    double convergence = 0;
    friend bool operator==(const Choice&, const Choice&) = default;
  };

  bool simulated = true;
  std::optional<double> target;  // accuracy that ends the run
  std::optional<Duration> deadline;
  Bytes dense_update;  // per device, uncompressed
  // In use: streams, dropout, compression, transfers, partition, split, gossip.
  std::vector<std::string> mechanisms;
  std::vector<Choice> front;
  std::vector<Device> devices;  // by number
  friend bool operator==(const RunMetadata&, const RunMetadata&) = default;
};

// As JSON. Bytes that are not UTF-8 become U+FFFD.
std::string FormatRunMetadata(const RunMetadata& metadata);

// Parses any bytes: Corrupt, naming what is missing or wrong. At most a million devices, a thousand classes,
// ten million counts and ten thousand points.
StatusOr<RunMetadata> ParseRunMetadata(std::string_view text);

}  // namespace tributary::inline telemetry
