#pragma once

#include <map>
#include <memory>
#include <span>

#include "tributary/base/flat_buffer.h"
#include "tributary/base/status.h"
#include "tributary/policy/aggregation/aggregator.h"
#include "tributary/policy/dropout/menu.h"

namespace tributary::inline policy {

// Where devices train parts of the network: makes the mean over all devices, in which whoever did not train an element
// counts with zero, the mean over those that trained it, each by the samples of the steps in which it did. What nobody
// trained does not change.
//
// Of channels that are drawn anew at each step, an element's part in a step is taken to be how likely it was to be in it:
// what happened to be drawn would add noise, and cost more the more steps there are.
class CoveredMean {
 public:
  // The model must outlive it. An error in words if the options do not fit it. `seed` is the experiment's.
  static StatusOr<std::unique_ptr<CoveredMean>> Make(const DropoutOptions& options, const Model& model,
                                                     std::uint64_t seed);

  // The round's mean is of these updates.
  void Begin(RoundId round, std::span<const TrainedPart> updates);
  // `mean` is the elements from `offset`.
  void Apply(std::size_t offset, std::span<float> mean) const;

 private:
  CoveredMean(std::uint64_t seed, const Model& model, DropoutMenu menu);

  // What it is like to keep as many channels as an entry of the menu does.
  const Model& SubnetworkOf(std::size_t entry);
  void AddChannels(std::size_t entry, const KeptAtoms& kept, float weight);
  void AddLikely(std::size_t entry, float weight);

  const Model& model_;
  const std::uint64_t seed_;
  const DropoutMenu menu_;
  std::map<std::size_t, std::unique_ptr<const Model>> subnetwork_;  // by entry
  FlatBuffer trained_;  // for each parameter, what the updates weigh that trained it
  float all_ = 0;       // what all of them weigh
};

}  // namespace tributary::inline policy
