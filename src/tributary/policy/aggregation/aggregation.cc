#include "tributary/policy/aggregation/aggregation.h"

#include <algorithm>
#include <map>
#include <optional>
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

constexpr std::size_t kRowElements = 16384;

// Reads the same elements of several updates. Those that no piece has are zero.
class BlockReader final : public RoundUpdates {
 public:
  BlockReader(UpdateStore& store, std::vector<WorkId> works, std::size_t parameters)
      : store_(store), works_(std::move(works)), parameters_(parameters) {}

  std::size_t size() const override { return works_.size(); }

  Status ForEachBlock(
      const std::function<void(std::span<const std::span<float>> updates)>& visit) const override {
    return ForEach(UpdatePart::kParameters, 0, parameters_, [&](auto rows, std::size_t) { visit(rows); });
  }

  // Visits `count` elements from `offset` on, with the place of each block among them.
  Status ForEach(
      UpdatePart part, std::size_t offset, std::size_t count,
      const std::function<void(std::span<const std::span<float>> updates, std::size_t place)>& visit) const {
    std::vector<float> block(works_.size() * std::min(kRowElements, count));
    std::vector<std::span<float>> rows(works_.size());
    for (std::size_t place = 0; place < count; place += kRowElements) {
      const std::size_t width = std::min(kRowElements, count - place);
      std::ranges::fill(block, 0.0F);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        rows[i] = std::span(block).subspan(i * width, width);
        TRIBUTARY_RETURN_IF_ERROR(store_.Read(works_[i], part, offset + place, rows[i]));
      }
      visit(rows, place);
    }
    return OkStatus();
  }

 private:
  UpdateStore& store_;
  const std::vector<WorkId> works_;
  const std::size_t parameters_;
};

class StoredAggregator final : public Aggregator {
 public:
  StoredAggregator(const AggregationScene& scene, InspectUpdates inspect)
      : model_(scene.model), store_(scene.store), inspect_(std::move(inspect)) {}

  void Begin(double expected_weight) override {
    const MutexLock lock(mutex_);
    expected_weight_ = expected_weight;
    found_.reset();
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
    found_.reset();
    return OkStatus();
  }

  Status Discard(WorkId work) override {
    store_.Remove(work);
    const MutexLock lock(mutex_);
    updates_.erase(work);
    found_.reset();
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

  Status Inspect() override {
    const MutexLock lock(mutex_);
    return InspectOnce(Reader());
  }

  Status Report(UpdatePart part, std::size_t offset, std::span<float> values) const override {
    if (values.empty()) return OkStatus();
    const MutexLock lock(mutex_);
    std::vector<double> weights;
    for (const auto& [work, update] : updates_) {
      if (update.committed) weights.push_back(update.weight);
    }
    const BlockReader reader = Reader();
    TRIBUTARY_RETURN_IF_ERROR(InspectOnce(reader));
    const CombineUpdates& combine = part == UpdatePart::kParameters ? found_->parameters : found_->statistics;
    return reader.ForEach(part, offset, values.size(), [&](auto rows, std::size_t place) {
      combine(rows, weights, values.subspan(place, rows.front().size()));
    });
  }

 private:
  struct StoredUpdate {
    double weight = 0;
    bool committed = false;
  };

  // Of the committed updates.
  BlockReader Reader() const TRIBUTARY_REQUIRES(mutex_) {
    std::vector<WorkId> works;
    for (const auto& [work, update] : updates_) {
      if (update.committed) works.push_back(work);
    }
    return BlockReader(store_, std::move(works), model_.parameters.size);
  }

  Status InspectOnce(const BlockReader& updates) const TRIBUTARY_REQUIRES(mutex_) {
    if (updates.size() == 0) return Unavailable("no device's update can be used");
    if (found_) return OkStatus();
    TRIBUTARY_ASSIGN_OR_RETURN(found_, inspect_(updates));
    return OkStatus();
  }

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
  const InspectUpdates inspect_;
  mutable Mutex mutex_;
  mutable std::optional<RoundCombination> found_ TRIBUTARY_GUARDED_BY(mutex_);  // in this round
  double expected_weight_ TRIBUTARY_GUARDED_BY(mutex_) = 1;
  std::map<WorkId, StoredUpdate> updates_ TRIBUTARY_GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<Aggregator> MakeStoredAggregator(const AggregationScene& scene, CombineUpdates combine) {
  return MakeStoredAggregator(
      scene, [combine = std::move(combine)](const RoundUpdates&) -> StatusOr<RoundCombination> {
        return RoundCombination{combine, combine};
      });
}

std::unique_ptr<Aggregator> MakeStoredAggregator(const AggregationScene& scene, InspectUpdates inspect) {
  return std::make_unique<StoredAggregator>(scene, std::move(inspect));
}

}  // namespace tributary::inline policy
