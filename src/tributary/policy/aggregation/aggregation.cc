#include "tributary/policy/aggregation/aggregation.h"

#include <algorithm>
#include <map>
#include <utility>

#include "tributary/base/mutex.h"
#include "tributary/base/number_text.h"
#include "tributary/model/model.h"
#include "tributary/policy/aggregation/weighted_sum.h"

namespace tributary::inline policy {

Status CheckUpdateWeight(double weight, double expected) {
  // Out of updates without weight no mean can be made, which would end the run.
  if (weight == 0) return Corrupt("it weighs nothing, as if it had been learnt from no sample");
  if (weight > 0 && weight <= expected) return OkStatus();  // NaN fails.
  return Corrupt("the weight of an update must be between 0 and " + NumberText(expected) +
                 ", the sum of all weights expected; found " + NumberText(weight));
}

#define RULE(name) AggregationRule name();
#include "tributary/policy/aggregation/rules.inc"
#undef RULE

const std::vector<std::shared_ptr<const AggregationRule>>& AggregationRules() {
  static const std::vector<std::shared_ptr<const AggregationRule>> kRules = {
#define RULE(name) std::make_shared<const AggregationRule>(name()),
#include "tributary/policy/aggregation/rules.inc"
#undef RULE
  };
  return kRules;
}

namespace {

class StoredAggregator final : public Aggregator {
 public:
  StoredAggregator(const AggregationScene& scene, CombineUpdates combine)
      : model_(scene.model), store_(scene.store), combine_(std::move(combine)) {}

  void Begin(double expected_weight) override {
    const MutexLock lock(mutex_);
    expected_weight_ = expected_weight;
    for (const auto& [work, update] : std::exchange(updates_, {})) store_.Remove(work);
  }

  Status Stage(WorkId work, const UpdatePiece& piece) override {
    TRIBUTARY_RETURN_IF_ERROR(Check(piece));
    {
      const MutexLock lock(mutex_);
      updates_.try_emplace(work);
    }
    return store_.Append(work, piece);
  }

  Status Commit(WorkId work, double weight) override {
    const MutexLock lock(mutex_);
    updates_[work] = {weight, true};
    return OkStatus();
  }

  Status Discard(WorkId work) override {
    store_.Remove(work);
    const MutexLock lock(mutex_);
    updates_.erase(work);
    return OkStatus();
  }

  Status Take(WorkId work, std::span<const UpdatePiece> pieces) override {
    for (const UpdatePiece& piece : pieces) TRIBUTARY_RETURN_IF_ERROR(Check(piece));
    for (const UpdatePiece& piece : pieces) {
      const Status status = Stage(work, piece);
      if (status.ok()) continue;
      TRIBUTARY_RETURN_IF_ERROR(Discard(work));
      return status;
    }
    return Commit(work, pieces.front().weight);
  }

  Status CheckComplete() const override {
    const MutexLock lock(mutex_);
    const bool any = std::ranges::any_of(updates_, [](const auto& one) { return one.second.committed; });
    return any ? OkStatus() : Unavailable("no device's update can be used");
  }

  Status Report(UpdatePart part, std::size_t offset, std::span<float> values) const override {
    if (values.empty()) return OkStatus();
    const MutexLock lock(mutex_);
    std::vector<WorkId> works;
    std::vector<double> weights;
    for (const auto& [work, update] : updates_) {
      if (!update.committed) continue;
      works.push_back(work);
      weights.push_back(update.weight);
    }
    if (works.empty()) return Unavailable("no device's update can be used");
    std::vector<float> block(works.size() * values.size(), 0.0F);
    std::vector<std::span<float>> rows;
    for (std::size_t i = 0; i < works.size(); ++i) {
      rows.push_back(std::span(block).subspan(i * values.size(), values.size()));
      TRIBUTARY_RETURN_IF_ERROR(store_.Read(works[i], part, offset, rows.back()));
    }
    combine_(rows, weights, values);
    return OkStatus();
  }

 private:
  struct StoredUpdate {
    double weight = 0;
    bool committed = false;
  };

  Status Check(const UpdatePiece& piece) const {
    const bool parameters = piece.part == UpdatePart::kParameters;
    TRIBUTARY_RETURN_IF_ERROR(
        CheckUpdateRange(piece, parameters ? model_.parameters.size : model_.statistics.size));
    {
      const MutexLock lock(mutex_);
      TRIBUTARY_RETURN_IF_ERROR(CheckUpdateWeight(piece.weight, expected_weight_));
    }
    return WeightedSum::Check(piece.values, piece.offset);
  }

  const Model& model_;
  UpdateStore& store_;
  const CombineUpdates combine_;
  mutable Mutex mutex_;
  double expected_weight_ TRIBUTARY_GUARDED_BY(mutex_) = 1;
  std::map<WorkId, StoredUpdate> updates_ TRIBUTARY_GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<Aggregator> MakeStoredAggregator(const AggregationScene& scene, CombineUpdates combine) {
  return std::make_unique<StoredAggregator>(scene, std::move(combine));
}

}  // namespace tributary::inline policy
