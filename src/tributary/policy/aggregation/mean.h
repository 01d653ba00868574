#pragma once

#include <map>
#include <memory>
#include <span>

#include "tributary/base/flat_buffer.h"
#include "tributary/base/mutex.h"
#include "tributary/base/status.h"
#include "tributary/model/model.h"
#include "tributary/policy/aggregation/aggregator.h"
#include "tributary/policy/aggregation/weighted_sum.h"
#include "tributary/policy/dropout/round_choice.h"

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
  CoveredMean(std::uint64_t seed, const Model& model, DropoutMenu menu)
      : model_(model), seed_(seed), menu_(std::move(menu)), trained_(model.parameters.size) {}

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

// The exact weighted mean. Pieces are added as they arrive, and taken out again, exactly, if their update is discarded: so
// memory does not grow with the number of updates, and the store holds only those that are on their way. An element that
// top-k left out of an update counts as no change.
class MeanAggregator final : public Aggregator {
 public:
  // The store must outlive it. `covered` is for sub-networks whose untrained elements do not count; null where they
  // count as no change.
  MeanAggregator(const Model& model, UpdateStore& store, std::unique_ptr<CoveredMean> covered = nullptr)
      : store_(store),
        covered_(std::move(covered)),
        parameters_(model.parameters.size, 1),
        statistics_(model.statistics.size, 1) {}

  void Begin(double expected_weight) override;
  Status Stage(WorkId work, const UpdatePiece& piece) override;
  Status Commit(WorkId work, double weight) override { return Settle(work, weight); }
  Status Discard(WorkId work) override { return Settle(work, 0); }
  Status Take(WorkId work, std::span<const UpdatePiece> pieces) override;
  void Cover(RoundId round, std::span<const TrainedPart> updates) override {
    if (covered_) covered_->Begin(round, updates);
  }
  Status CheckComplete() const override;
  Status Report(UpdatePart part, std::size_t offset, std::span<float> values) const override;

  const WeightedSum& sum(UpdatePart part) const {
    return (part == UpdatePart::kParameters ? parameters_ : statistics_).sum();
  }

 private:
  Status Check(const UpdatePiece& piece) const;
  // What was staged of it counts with this weight from now on.
  Status Settle(WorkId work, double weight);
  ConcurrentWeightedSum& SumOf(UpdatePart part) {
    return part == UpdatePart::kParameters ? parameters_ : statistics_;
  }

  UpdateStore& store_;
  const std::unique_ptr<CoveredMean> covered_;
  ConcurrentWeightedSum parameters_;
  ConcurrentWeightedSum statistics_;
  Mutex mutex_;
  std::map<WorkId, double> staged_ TRIBUTARY_GUARDED_BY(mutex_);  // with which weight
};

}  // namespace tributary::inline policy
