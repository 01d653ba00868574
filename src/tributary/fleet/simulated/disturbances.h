#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tributary/experiment/experiment.h"
#include "tributary/fleet/profile.h"
#include "tributary/fleet/simulated/device_timeline.h"
#include "tributary/policy/attacks/attack.h"

namespace tributary::inline simulated {

// A device's disturbances in one round.
struct Trouble {
  Fault fault;           // fault that ends its part in the round
  bool corrupt = false;  // its update arrives with wrong bytes
  double slow = 1;       // factor on its compute time
  struct Hostile {
    Attack attack;
    std::uint64_t seed = 0;
    std::size_t disturbance = 0;  // devices of the same one may collude
    // Those that collude send this instead, once all have learnt.
    std::shared_ptr<const std::vector<float>> joint = nullptr;
  };
  std::vector<Hostile> attacks;  // on its update, one after the other
  std::int64_t label_shift = 0;  // it learns from labels that are so many classes off

  bool changes_update() const { return corrupt || !attacks.empty(); }
};

// The update that arrives when the device computed these values.
std::vector<float> Changed(const Trouble& trouble, std::span<const float> values);

// Draws the disturbances of a round, one entry per participant. A disturbance affects its share (rounded) of
// the participants that it names, redrawn each round and keyed by (seed, disturbance, round). If several
// faults affect a device the first one counts; slow-downs multiply.
std::vector<Trouble> DrawTroubles(std::span<const Disturbance> disturbances,
                                  std::span<const DeviceProfile> profiles,
                                  std::span<const DeviceId> participants, std::uint64_t seed, RoundId round,
                                  TimePoint start);

}  // namespace tributary::inline simulated
