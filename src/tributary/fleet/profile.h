#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/ids.h"
#include "tributary/base/units.h"
#include "tributary/data/arrivals.h"
#include "tributary/fleet/availability.h"

namespace tributary::inline fleet {

// What time is charged and decisions are made from: drawn for simulated devices, measured for real ones.
struct DeviceProfile {
  DeviceId id;            // from 0, without gaps, over the whole fleet
  std::string group;      // in the experiment; devices of a group differ only in random draws
  MacsPerSecond compute;  // at the full rate, above 0; `availability` gives the share of it over time
  Bytes memory = kUnlimitedMemory;  // limit for training
  BitsPerSecond uplink, downlink;   // upper limits, above 0; a busy server may give less
  Duration round_trip{0};           // of an empty message
  Duration setup{0};                // delay before the first byte of every message, in both directions
  SamplesPerSecond stream_rate;     // of new samples; 0 if all data are there from the start
  RateSteps stream_programme;       // changes of that rate, from the start of the run
  Availability availability;
  std::int64_t samples = 0;                // for training, as the device reported when it joined
  std::vector<std::int64_t> label_counts;  // training samples per class, where known

  static constexpr Bytes kUnlimitedMemory{std::numeric_limits<std::int64_t>::max()};
};

// Whether a device that has joined a run still belongs to it.
enum class Standing {
  kMember,
  kDropped,  // removed by an operator; may join again
  kBanned,   // removed by an operator; may not join again
  kQuarantined,  // removed because the run diverged with its updates; may not join again until an operator admits it
};

// A device that has joined a run, as stored in a checkpoint. Its index in the list is its DeviceId.
struct FleetMember {
  std::string name;  // UTF-8, unique
  std::int64_t samples = 0;
  // The last round with this device's update in the model; 0 if none. Device state continues from this round.
  std::uint64_t applied_round = 0;
  // Stream position below which every sample is in the model or will never be.
  std::int64_t applied_position = 0;
  // Records (data/record.h) of samples shared in the last round, for the other devices in the next.
  std::vector<std::byte> shared;
  Standing standing = Standing::kMember;
  friend bool operator==(const FleetMember&, const FleetMember&) = default;
};

}  // namespace tributary::inline fleet
