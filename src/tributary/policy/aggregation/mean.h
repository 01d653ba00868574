#pragma once

#include <map>
#include <memory>

#include "tributary/base/mutex.h"
#include "tributary/model/model.h"
#include "tributary/policy/aggregation/aggregator.h"
#include "tributary/policy/aggregation/covered_mean.h"
#include "tributary/policy/aggregation/weighted_sum.h"

namespace tributary::inline policy {

// The exact weighted mean. Pieces are added as they arrive, and taken out again, exactly, if their update is discarded: so
// memory does not grow with the number of updates, and the store holds only those that are on their way. An element that
// top-k left out of an update counts as no change.
class MeanAggregator final : public Aggregator {
 public:
  // The store must outlive it. `covered` is for sub-networks whose untrained elements do not count; null where they
  // count as no change.
  MeanAggregator(const Model& model, UpdateStore& store, std::unique_ptr<CoveredMean> covered = nullptr);

  void Begin(double expected_weight) override;
  Status Stage(WorkId work, const UpdatePiece& piece) override;
  Status Commit(WorkId work, double weight) override { return Settle(work, weight); }
  Status Discard(WorkId work) override { return Settle(work, 0); }
  Status Take(WorkId work, std::span<const UpdatePiece> pieces) override;
  void Cover(RoundId round, std::span<const TrainedPart> updates) override;
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
