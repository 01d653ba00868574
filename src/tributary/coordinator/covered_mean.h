#pragma once

#include <memory>
#include <span>

#include "tributary/base/flat_buffer.h"
#include "tributary/base/status.h"
#include "tributary/experiment/experiment.h"
#include "tributary/fleet/report.h"
#include "tributary/policy/dropout/menu.h"

namespace tributary {

// Where devices train a part of the network for a whole round: makes the mean over all devices, in which whoever did not
// train an element counts with zero, the mean over those that trained it. What nobody trained stays zero.
class CoveredMean {
 public:
  // The model must outlive it. An error in words if the experiment's dropout does not fit it.
  static StatusOr<std::unique_ptr<CoveredMean>> Make(const Experiment& experiment, const Model& model);

  // The round's mean is of the updates that this report says were applied, each of an entry of the menu.
  void Begin(RoundId round, const RoundReport& report);
  // `mean` is the elements from `offset`.
  void Apply(std::size_t offset, std::span<float> mean) const;

 private:
  CoveredMean(const Experiment& experiment, const Model& model, DropoutMenu menu);

  const Model& model_;
  const std::uint64_t seed_;
  const DropoutMethod method_;
  const DropoutMenu menu_;
  FlatBuffer trained_;  // for each parameter, what the updates weigh that trained it
  float all_ = 0;       // what all of them weigh
};

}  // namespace tributary
