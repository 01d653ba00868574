#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tributary::inline fleet {

// A device that has joined a run, as a checkpoint remembers it. Its DeviceId is its place in the list.
struct FleetMember {
  std::string name;  // UTF-8; no two are alike
  std::int64_t samples = 0;
  // The last round whose update of this device is in the model; 0 if none is. A device that keeps something from round
  // to round goes on from what it had after that one.
  std::uint64_t applied_round = 0;
  // Of its stream: everything below this position is in the model or will never be.
  std::int64_t applied_position = 0;
  // Records (data/record.h) of the samples that it shared in the last round, for the others in the next.
  std::vector<std::byte> shared;
  friend bool operator==(const FleetMember&, const FleetMember&) = default;
};

}  // namespace tributary::inline fleet
