#pragma once

#include <cstdint>
#include <span>

#include "tributary/base/status.h"
#include "tributary/fleet/assignment.h"
#include "tributary/model/model.h"
#include "tributary/policy/aggregation/weighted_sum.h"

namespace tributary::inline device {

// The average of a device's model and its neighbours': any order of neighbours gives the same bits (weighted_sum.h), so
// each can be added when it has come. Costs eight bytes for each value of the network, kept from one average to the next.
//
//   1. Begin
//   2. Add, for each neighbour whose model has come
//   3. Finish, with the device's own
class ModelMix {
 public:
  // Of all neighbours. More would leave too few bits for the values; no rule of averaging comes near.
  static constexpr double kMostWeight = 64;

  explicit ModelMix(const Model& model);

  // `most` is what all neighbours that may come weigh together, kMostWeight at most.
  void Begin(double most);
  // `weight` is above 0. Refused without a trace where a value is not finite or too large, the size is that of another
  // network, or there is more weight than was to come.
  Status Add(double weight, const SharedWeights& neighbour);
  // What the neighbours that came have left of one is the weight of `own`: less than nothing where they have more, as MATCHA
  // may ask for. The results may be where `own` is.
  Status Finish(const SharedWeights& own, std::span<float> parameters, std::span<float> statistics);

 private:
  // Weights are counted in whole numbers, so that their order does not matter either.
  static constexpr double kUnit = 0x1p56;

  WeightedSum parameters_, statistics_;
  std::int64_t room_ = 0, left_ = 0;
};

}  // namespace tributary::inline device
