#pragma once

#include "tributary/base/status.h"
#include "tributary/fleet/fleet.h"
#include "tributary/model/model.h"
#include "tributary/policy/aggregation/concurrent_weighted_sum.h"

namespace tributary {

// Gathers the updates of one round after another into their exact weighted mean: two sums, one for what concerns
// parameters and one for running statistics, with the same weights. Its memory does not grow with the fleet.
class RoundAggregate : public UpdateSink {
 public:
  explicit RoundAggregate(const Model& model);

  // Forgets the last round. `expected_weight` is what all participants together may weigh at most.
  void Begin(double expected_weight);

  // Takes an update whole or not at all: values that are not finite or do not fit are refused before any is added.
  Status Accept(DeviceId device, const Update& update) override;

  // The means over all that was taken. Unavailable, and nothing written, if that was nothing.
  Status Mean(std::span<float> parameters, std::span<float> statistics) const;

 private:
  ConcurrentWeightedSum parameters_;
  ConcurrentWeightedSum statistics_;
};

// What the participants of a round can weigh at most: the samples they are asked to learn from.
double ExpectedWeight(const RoundRequest& request, std::span<const DeviceProfile> devices);

}  // namespace tributary
