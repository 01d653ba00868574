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

// What is known of a run besides its events: who its devices are, and what its decisions are made from. For those who show a
// run to people; kept in its folder as facts.json.
struct RunMetadata {
  struct Device {
    std::string name;   // of a real device, as in its certificate; may come from the device: any bytes
    std::string group;  // of a simulated one
    std::vector<std::int64_t> class_counts;  // empty if not known
    friend bool operator==(const Device&, const Device&) = default;
  };
  // A point of the explored front that devices choose from.
  struct Choice {
    double cost = 0;  // as a share of the full network's
    double convergence = 0;
    friend bool operator==(const Choice&, const Choice&) = default;
  };

  bool simulated = true;
  std::optional<double> target;  // accuracy that ends the run
  std::optional<Duration> deadline;
  Bytes dense_update;  // of one device, uncompressed
  std::vector<std::string>
      mechanisms;  // in use: streams, dropout, compression, transfers, partition, split, gossip
  std::vector<Choice> front;
  std::vector<Device> devices;  // by number
  friend bool operator==(const RunMetadata&, const RunMetadata&) = default;
};

// As JSON. Bytes in a text that are not UTF-8 become U+FFFD.
std::string FormatRunMetadata(const RunMetadata& metadata);

// The reverse. Total on any bytes: Corrupt, saying what is missing or wrong. At most a million devices, a thousand classes,
// ten million counts and ten thousand points.
StatusOr<RunMetadata> ParseRunMetadata(std::string_view text);

}  // namespace tributary::inline telemetry
