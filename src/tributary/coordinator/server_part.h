#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "tributary/coordinator/client_part_sink.h"
#include "tributary/coordinator/round_method.h"
#include "tributary/device/split_network.h"
#include "tributary/fleet/fleet.h"
#include "tributary/fleet/split_wire.h"
#include "tributary/model/graph.h"

namespace tributary::inline coordinator {

// The coordinator's part of a cut network, from round to round.
class ServerPart : public SplitServer {
 public:
  // A round begins. What this part learns goes to the scene's sink, as elements of the whole network, weighted by samples.
  // What the scene refers to, and the request, must stay as they are until the round is over.
  virtual void Begin(const WorkOrder& request, const RoundScene& scene) = 0;
  // The round is over, and counts: what depends on whose updates came goes to the sink now.
  virtual Status OnRoundAccepted(const RoundReport&) { return OkStatus(); }
  // The first node of this part that waits for the batches of all; past its end if none does.
  virtual NodeIndex waits_from() const = 0;
};

bool Finite(std::span<const float> values);

// Refuses, in words, what a device may not send over the cut for so many samples in a round of so many crossings.
Status CheckSplitBatch(const SplitNetwork& network, DeviceId device, std::size_t samples, int crossings,
                       const SplitBatch& batch);

// What a device sends comes to nothing that can be learnt from.
Status UnsoundSplit(DeviceId device);

// What the method `split` needs besides the experiment.
struct SplitSetup {
  ClientPartRanges parameters, statistics;  // what devices have of the network
  ServerPart* server_part = nullptr;        // and what the coordinator has
  std::size_t classes = 0;
  // How long a step should take each of these, in any unit.
  std::function<std::vector<double>(std::span<const DeviceProfile>)> delays;
};

// The coordinator's part of a cut network, as the experiment's variant trains it.
std::unique_ptr<ServerPart> MakeServerPart(const Experiment& experiment, const SplitNetwork& network);

// What a coordinator needs to know of a cut network and its own part of it.
SplitSetup SetupOf(const Experiment& experiment, const SplitNetwork& network, ServerPart& server_part);

}  // namespace tributary::inline coordinator
