#pragma once

#include <memory>
#include <optional>

#include "tributary/base/flat_buffer.h"
#include "tributary/base/rng.h"
#include "tributary/device/split_network.h"
#include "tributary/engine/executor.h"
#include "tributary/fleet/cut_server.h"
#include "tributary/fleet/fleet.h"
#include "tributary/policy/optimisation/optimiser.h"

namespace tributary {

// A copy of the coordinator's part of a cut network that learns from one batch after the other, each a step of an optimiser
// of its own. It computes with one thread, so that a simulated and a real run agree to the bit. One caller at a time.
class RestCopy {
 public:
  RestCopy(const SplitNetwork& network, double label_smoothing);

  // Begins anew: from what the whole network's weights have of this part, with the optimiser that the assignment names.
  // The weights must stay as they are while it learns.
  Status Begin(const SharedWeights& whole, const TrainAssignment& assignment);
  // A pass over a device's batch, which has been checked, there and back; then a step. The batch is refused if what comes
  // out is not all numbers: then this is as it was before, if it is still sound.
  StatusOr<CutReply> Learn(DeviceId device, const CutBatch& batch, Rng chance);
  // False once a step has led to numbers that cannot be added up. From then on nothing is learnt.
  bool sound() const { return sound_; }
  // Adds how far it has come since Begin, and its running statistics, to the round. It must be sound and have learnt from
  // something.
  Status AddTo(UpdateSink& sink, DeviceId device, double weight) const;

 private:
  const double label_smoothing_;
  const std::size_t parameters_at_, statistics_at_;  // where this part begins in the whole
  FlatBuffer parameters_, statistics_;
  FlatBuffer change_;  // since Begin; during a pass its gradients
  Executor executor_;
  SharedWeights origin_;
  std::unique_ptr<Optimiser> optimiser_;
  double learning_rate_ = 0;
  bool sound_ = true;
};

}  // namespace tributary
