#pragma once

#include "tributary/coordinator/round_method.h"
#include "tributary/fleet/cut_server.h"
#include "tributary/fleet/fleet.h"
#include "tributary/model/graph.h"

namespace tributary {

// The coordinator's part of a cut network, from round to round.
class SplitHalf : public CutServer {
 public:
  // A round begins. What this part learns goes to the scene's sink, as elements of the whole network, weighted by samples.
  // What the scene refers to, and the request, must stay as they are until the round is over.
  virtual void Begin(const RoundRequest& request, const RoundScene& scene) = 0;
  // The round is over, and counts: what depends on whose updates came goes to the sink now.
  virtual Status Conclude(const RoundReport&) { return OkStatus(); }
  // The first node of this part that waits for the batches of all; past its end if none does.
  virtual NodeIndex waits_from() const = 0;
};

}  // namespace tributary
