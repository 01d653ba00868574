#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tributary/experiment/experiment.h"
#include "tributary/fleet/profile.h"
#include "tributary/fleet/simulated/device_timeline.h"
#include "tributary/policy/attacks/attack.h"

namespace tributary::inline simulated {

// What goes wrong with one device in one round.
struct Trouble {
  Fault fault;           // of its part in the round
  bool corrupt = false;  // its update arrives with wrong bytes
  double slow = 1;       // factor on its computation time
  struct Hostile {
    Attack attack;
    std::uint64_t seed = 0;
  };
  std::vector<Hostile> attacks;  // on its update, one after the other

  bool changes_update() const { return corrupt || !attacks.empty(); }
};

// What arrives instead of these values.
std::vector<float> Changed(const Trouble& trouble, std::span<const float> values);

// Who is disturbed in a round: one entry per participant. Of the participants that a disturbance names, its share
// (rounded to the nearest number) is drawn again each round, keyed by (seed, disturbance, round). Where several say how
// a device's part ends, the first one counts; slow-downs multiply.
std::vector<Trouble> DrawTroubles(std::span<const Disturbance> disturbances,
                                  std::span<const DeviceProfile> profiles,
                                  std::span<const DeviceId> participants, std::uint64_t seed, RoundId round,
                                  TimePoint start);

}  // namespace tributary::inline simulated
