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

// What a device is: everything that time is charged from and decisions are made from. A plain value, the same for a
// simulated device (drawn from an experiment) and for a real one (measured).
struct DeviceProfile {
  // Counted from 0 over the whole fleet, without gaps.
  DeviceId id;
  // The group of the experiment that it was drawn from; devices of a group differ only by chance.
  std::string group;
  // At a full share of its processor; `availability` says how much of it there is at a time. Above 0.
  MacsPerSecond compute;
  // What training may hold in memory at once.
  Bytes memory = kUnlimitedMemory;
  // From the device and to it. Each is a ceiling: a busy server may give less. Above 0.
  BitsPerSecond uplink;
  BitsPerSecond downlink;
  // There and back of an empty message.
  Duration round_trip{0};
  // Paid once by every message, in either direction, before its first byte.
  Duration setup{0};
  // How fast new samples arrive; 0 for a device whose data lie there from the start.
  SamplesPerSecond stream_rate;
  // What becomes of that rate over time, from the start of the run.
  RateSteps stream_programme;
  Availability availability;
  // It has to train on, as it said when it joined.
  std::int64_t samples = 0;
  // How many of them each class has, where that is known.
  std::vector<std::int64_t> label_counts;

  static constexpr Bytes kUnlimitedMemory{std::numeric_limits<std::int64_t>::max()};
};

// Whether a device that has joined a run still belongs to it.
enum class Standing {
  kMember,
  kDropped,  // an operator has removed it; it may join again
  kBanned,   // it may not
};

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
  Standing standing = Standing::kMember;
  friend bool operator==(const FleetMember&, const FleetMember&) = default;
};

}  // namespace tributary::inline fleet
