#pragma once

#include "tributary/fleet/cut_server.h"
#include "tributary/fleet/fleet.h"

namespace tributary {

// The coordinator's part of a cut network, from round to round.
class SplitHalf : public CutServer {
 public:
  // A round begins. What this part learns goes to `sink`, as elements of the whole network, weighted by samples. All must
  // stay as they are until the round is over.
  virtual void Begin(const RoundRequest& request, const SharedWeights& whole, UpdateSink& sink) = 0;
};

}  // namespace tributary
