#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/experiment/experiment.h"
#include "tributary/fleet/profile.h"
#include "tributary/fleet/split_wire.h"
#include "tributary/model/model.h"

namespace tributary::inline device {

// A network that is cut, and who has what of it. All that is flat (parameters, statistics) of the whole is, from the
// beginning, the devices' front, then the coordinator's rest, then the devices' tail if they have one.
struct SplitNetwork {
  std::shared_ptr<const Model> whole;
  std::shared_ptr<const Model> held;  // by devices: the front, and behind an input of its own the tail
  std::shared_ptr<const Model> rest;
  NodeIndex cut = 0;              // the last node of the front, in the whole and in what devices hold
  std::optional<NodeIndex> tail;  // the last node of the rest, in the whole, where devices have a tail
  SplitWire wire;
};

// Replaces [split] cut = "auto" by the layer with the shortest modelled step for the experiment's own fleet, so that every
// machine finds the same. Refuses, in words, layers that the network cannot be cut after, and what has no meaning together.
Status ResolveSplitPoint(Experiment& experiment, const Shape& shape, int classes);

// `whole` is what BuildNetwork gives for this experiment, whose cut has been resolved.
SplitNetwork SplitNetworkAt(const Experiment& experiment, std::shared_ptr<const Model> whole);

// How long a step should take each device, in seconds, if it gives an equal share of the batch.
std::vector<double> StepDelays(const Experiment& experiment, const SplitNetwork& network,
                               std::span<const DeviceProfile> devices);

}  // namespace tributary::inline device
